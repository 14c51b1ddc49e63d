"""Everything that is asked of one metric on two sets: the value first, then what surrounds it.

The value of the whole sets, with its interval and extrapolation; the second model's value and the difference; the
values at smaller N; the values of each class. Takes `FeatureSet`s, and knows nothing of files and networks.

Two models against one reference: is the first closer to the real set than the second, and how surely? Two intervals
that overlap say little: both distances move together when the real set is another one. So the interval is drawn on the
difference itself, with the shared reference left out of both distances at once, and its part cancels. The bias of a
Fréchet distance does not cancel: it grows with a set's own variety, so at small N a set with too little of it looks
closer than it is. It is taken off by the jackknife, which holds for more videos than features. With fewer there is no
verdict.

A metric against the number of clips: how much of it is bias? A Fréchet distance falls as N grows, whatever the sets.
The curve shows by how much, on these very clips; over 1/N it is a line once N is above D, and where the line meets 0 is
the value at infinitely many clips (`labelled.at_infinity`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rushes.core import Interval, Measurement
from rushes.core.errors import InputError
from rushes.instruments.distribution.definitions import difference_definition, family, higher_is_better
from rushes.instruments.distribution.distances.groups import Groups
from rushes.instruments.distribution.distances.intervals import Distance, Sample, sample_of
from rushes.instruments.distribution.distances.labelled import Extras, Sets, at_infinity, measure, too_few
from rushes.instruments.distribution.features.rows import STATS_SUFFIX, FeatureSet
from rushes.instruments.distribution.few_videos import few_videos, few_videos_text
from rushes.instruments.distribution.show.remarks import as_note
from rushes.media.find.clips import natural_key
from rushes.stats.intervals import normal_interval
from rushes.stats.jackknife import JACKKNIFE_GROUPS, left_out

CURVE_SIZES = 6
CURVE_SUBSETS = 4
_LEAST_OF_CURVE = 4
_LEAST_OF_DIFFERENCE = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Versus:
    """A second generated set, and what the two are called."""

    features: FeatureSet
    name: str
    first: str
    """What the first one is called."""


def versus_names(gen: str | Path, versus: str | Path | None) -> tuple[str, str]:
    """What two generated sets are called: their own names, or their whole paths where these are the same.

    >>> versus_names("runs/amber", "runs/birch/"), versus_names("a/clips", "b/clips")
    (('amber', 'birch'), ('a/clips', 'b/clips'))
    """
    paths = [str(path).rstrip("/") for path in (gen, versus or "")]
    first, second = (path.rpartition("/")[2].removesuffix(STATS_SUFFIX) for path in paths)
    return (first, second) if first != second else (paths[0], paths[1])


def measure_sets(sets: Sets, extras: Extras, versus: Versus | None = None) -> tuple[Measurement, ...]:
    """The whole sets' value first; then the second model's and the difference, the curve, and each class."""
    groups = extras.groups
    lacking = () if groups is None else (groups.lacking(sets.gen.videos, "gen"), groups.lacking(sets.gt.videos, "gt"))
    found = [*measure(replace(sets, remarks=(*sets.remarks, *lacking)), extras)]
    if versus is not None:
        found += measure(replace(sets, gen=versus.features), extras, at=(("set", versus.name),))
        found.append(_difference(sets, versus))
    if extras.curve:
        if not extras.extrapolate:
            found += at_infinity(sets, found[0], seed=extras.seed)
        found += curve_measurements(sets, seed=extras.seed)
    if groups is not None:
        found += _by_class(sets, extras, groups)
    return tuple(found)


def _difference(sets: Sets, versus: Versus) -> Measurement:
    """The first model's value less the second's; `at` has `first` and `versus`."""
    kind = family(sets.metric)
    first, second = sets.gen, versus.features
    pair = Pair(first=first, second=second) if kind == "kernel" else even_pair(first, second)
    parts = (pair.first, pair.second, sets.gt)
    n_gen, n_versus, n_gt = (len(part.features) for part in parts)
    definition = difference_definition(sets.definition(n_gen, n_gt)).with_params(cut=pair.cut, n_versus=n_versus)
    at = (("first", versus.first), ("versus", versus.name))
    count = n_gen + n_versus + n_gt
    for part in (pair.first, pair.second):
        if (k := definition.param("k")) and (lacking := too_few(k, part, sets.gt)):
            return Measurement.missing(definition, lacking, count=count, at=at)
    value, interval = difference_interval(*parts, sets.distance, corrected=kind == "frechet")
    videos = [len(part.videos) for part in parts]
    why = few_videos(definition, videos)
    words = few_videos_text(definition, videos) if why else verdict(sets.metric, interval, versus.first, versus.name)
    note = as_note([words, pair.remark, *sets.remarks])
    return Measurement(definition=definition, value=value, count=count, note=note, at=at, interval=interval, why=why)


def verdict(metric: str, interval: Interval, first: str, second: str) -> str:
    """What a difference's interval says, in words.

    >>> verdict("fvd", Interval(low=-9.0, high=-2.0, level=0.95, method="jackknife-20"), "amber", "birch")
    'amber is closer than birch'
    >>> verdict("recall", Interval(low=-0.2, high=0.1, level=0.95, method="jackknife-20"), "amber", "birch")
    'No significant difference between amber and birch at this N'
    """
    if interval.low <= 0 <= interval.high:
        return f"No significant difference between {first} and {second} at this N"
    word = "higher" if higher_is_better(metric) else "closer"
    ahead = (interval.low > 0) == higher_is_better(metric)
    return f"{first} is {word} than {second}" if ahead else f"{second} is {word} than {first}"


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
    remark = f"{max(n, m)} and {min(n, m)} clips are not comparable: {min(n, m)} of the {max(n, m)} were used, {words}"
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
    if min(counts) < _LEAST_OF_DIFFERENCE:
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


def curve_sizes(most: int, d: int) -> list[int]:
    """Numbers of clips, each half of the next, up to the smaller set; none below 4.

    Where there are more clips than features, three more from D on: there the curve is a line in 1/N.

    >>> curve_sizes(256, 400), curve_sizes(20, 400), curve_sizes(700, 400)
    ([8, 16, 32, 64, 128, 256], [5, 10, 20], [21, 43, 87, 175, 350, 400, 500, 600, 700])
    """
    halves = {most >> halvings for halvings in range(CURVE_SIZES) if most >> halvings >= _LEAST_OF_CURVE}
    above = {d + round(third * (most - d) / 3) for third in range(3)} if most > d else set()
    return sorted(halves | above)


def curve_measurements(sets: Sets, *, seed: int = 0) -> list[Measurement]:
    """The metric on random subsets of both sets, four of each size; `at` has `n` (clips) and `subset`.

    Each is the plain metric of that many clips, so its signature has that many in `n_gen` and `n_gt`. Where both sets
    are of the largest size there is one subset, the whole. Rows of one video are drawn together. A size that is too
    small for the metric has a missing value.

    Edge cases  fewer than 8 clips in a set: `InputError`, since there would be one size alone.
    """
    x, y = sample_of(sets.gen), sample_of(sets.gt)
    sizes = curve_sizes(min(x.count, y.count), sets.recipe.d)
    if len(sizes) < 2:
        raise InputError(f"a curve needs {2 * _LEAST_OF_CURVE} clips in each set; got {x.count} and {y.count}")
    draw = np.random.RandomState(seed)
    found = []
    for size in sizes:
        whole = x.count == y.count == size
        for number in range(1, 2 if whole else CURVE_SUBSETS + 1):
            one, other = (x, y) if whole else (x.drawn(draw, size), y.drawn(draw, size))
            definition = sets.definition(len(one.rows), len(other.rows))
            value, note = None, f"a random subset of {size} clips of each set, seed {seed}"
            try:
                value = sets.distance(one.rows, other.rows)
            except InputError as error:
                note = str(error)
            count, at = len(one.rows) + len(other.rows), {"n": str(size), "subset": str(number)}
            found.append(Measurement(definition=definition, value=value, count=count, note=note, at=at))
    return found


def _by_class(sets: Sets, extras: Extras, groups: Groups) -> list[Measurement]:
    """Every class of either set, in natural order."""
    gen, gt = groups.split(sets.gen, "gen"), groups.split(sets.gt, "gt")
    found: list[Measurement] = []
    for name in sorted({*gen, *gt}, key=natural_key):
        one, other = only_videos(sets.gen, gen.get(name, set())), only_videos(sets.gt, gt.get(name, set()))
        found += _of_class(replace(sets, gen=one, gt=other), extras, name)
    return found


def _of_class(sets: Sets, extras: Extras, name: str) -> tuple[Measurement, ...]:
    """One class's value; missing with the reason where it has too few clips, or is in one set alone."""
    at, why, remarks = (("class", name),), "", sets.remarks
    for interval in dict.fromkeys((extras.interval, None)):  # too few for an interval may be enough for a value
        try:
            return measure(replace(sets, remarks=remarks), Extras(interval=interval, seed=extras.seed), at=at)
        except InputError as error:
            why = str(error)
            remarks = (*sets.remarks, f"no interval: {why}")
    n_gen, n_gt = sets.rows
    if not (n_gen and n_gt):
        why = f"only in the {'ground-truth' if n_gt else 'generated'} set ({n_gt or n_gen} clips)"
    return (sets.missing(why, at=at),)
