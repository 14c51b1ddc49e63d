"""Two models against one reference: is the first closer to the real set than the second, and how surely?

Two intervals that overlap say little: both distances move together when the real set is another one. So the interval is
drawn on the difference itself, with the shared reference left out of both distances at once, and its part cancels.

The bias of a Fréchet distance does not cancel: it grows with a set's own variety, so at small N a set with too little
of it looks closer than it is. It is taken off by the jackknife, which holds for more videos than features. With fewer
there is no verdict.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from rushes.core import Interval
from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.intervals import Distance, Sample, sample_of
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.stats.intervals import normal_interval
from rushes.stats.jackknife import JACKKNIFE_GROUPS, left_out

_LEAST = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two generated sets that may be compared: as many videos in each where the value depends on how many."""

    first: FeatureSet
    second: FeatureSet
    cut: str = "none"
    """How the larger set was cut down: "none", "by-name" or "by-digest"."""
    remark: str = ""


def even_pair(first: FeatureSet, second: FeatureSet) -> Pair:
    """The two sets with the same number of videos; the larger one is cut down, by the same rule every time.

    Where every name of the smaller set is in the larger one (a model that failed on some prompts), these stay.
    Otherwise the videos with the smallest digest of their content stay, which hangs on neither names nor order.
    """
    n, m = len(first.videos), len(second.videos)
    if n == m:
        return Pair(first=first, second=second)
    larger, smaller = (first, second) if n > m else (second, first)
    if smaller.videos.keys() <= larger.videos.keys():
        kept, rule, words = set(smaller.videos), "by-name", "those whose names both have"
    else:
        ranked = sorted(larger.videos, key=lambda name: (_rank(larger.videos[name]), name))
        kept, rule, words = set(ranked[: min(n, m)]), "by-digest", "chosen by the digest of their content"
    part = only_videos(larger, kept)
    remark = f"{max(n, m)} and {min(n, m)} clips do not compare: {min(n, m)} of the {max(n, m)} were taken, {words}"
    one, other = (part, smaller) if n > m else (smaller, part)
    return Pair(first=one, second=other, cut=rule, remark=remark)


def only_videos(feature_set: FeatureSet, names: set[str]) -> FeatureSet:
    """The part of a set that has these videos, in its order."""
    kept = [index for index, name in enumerate(feature_set.names) if name in names]
    return replace(
        feature_set,
        names=tuple(feature_set.names[index] for index in kept),
        digests=tuple(feature_set.digests[index] for index in kept),
        features=feature_set.features[kept],
        excluded=(),
    )


def _rank(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()


def difference_interval(
    first: FeatureSet, second: FeatureSet, gt: FeatureSet, distance: Distance, *, corrected: bool
) -> tuple[float, Interval]:
    """d(A, R) − d(B, R), with its bias taken off where `corrected`, and a 95 % interval by the jackknife.

    Formula     Δ = d(A, R) − d(B, R) − bias;  se² = V_A + V_B + V_R;  Δ ± 1.96·se. Bias and V are those of `left_out`
                for each set's videos, the reference left out of both distances at once. Where A and B have the same
                names (one prompt each), these are left out of both together; where R has them too, of all three.
    Edge cases  fewer than three videos in a set: `InputError`. Names that agree by chance do no harm: leaving out
                independent clips together is as good as by turns.
    Reference   Quenouille 1956; Tukey 1958; Arvesen 1969.
    """
    counts = [len(part.videos) for part in (first, second, gt)]
    if min(counts) < _LEAST:
        raise InputError(
            f"a difference of two sets needs three clips in each; got {counts[0]} and {counts[1]} against {counts[2]}"
        )
    a, b, r = (sample_of(part) for part in (first, second, gt))
    to_a, to_b = distance(a.rows, r.rows), distance(b.rows, r.rows)
    whole = to_a - to_b

    def gap(one: Sample, other: Sample, real: Sample) -> float:
        return distance(one.rows, real.rows) - distance(other.rows, real.rows)

    partner_b, partner_r = _partners(first, second), _partners(first, gt)
    method = f"jackknife-{JACKKNIFE_GROUPS}"
    if partner_b is None:
        parts = [
            left_out(a.count, whole, lambda kept: distance(a.of(kept).rows, r.rows) - to_b),
            left_out(b.count, whole, lambda kept: to_a - distance(b.of(kept).rows, r.rows)),
            left_out(r.count, whole, lambda kept: gap(a, b, r.of(kept))),
        ]
    elif partner_r is None:
        method += "-paired"
        parts = [
            left_out(a.count, whole, lambda kept: gap(a.of(kept), b.of(partner_b[kept]), r)),
            left_out(r.count, whole, lambda kept: gap(a, b, r.of(kept))),
        ]
    else:
        method += "-paired-with-reference"
        parts = [left_out(a.count, whole, lambda kept: gap(a.of(kept), b.of(partner_b[kept]), r.of(partner_r[kept])))]
    value = whole - sum(part.bias for part in parts) if corrected else whole
    return value, normal_interval(value, sum(part.variance for part in parts), method)


def _partners(one: FeatureSet, other: FeatureSet) -> np.ndarray | None:
    """For each video of a set the number of the other's video of that name; None where the names are not the same."""
    if one.videos.keys() != other.videos.keys():
        return None
    numbers = {name: number for number, name in enumerate(other.videos)}
    return np.array([numbers[name] for name in one.videos], dtype=np.intp)
