"""One metric on the same clips, twice: mean difference with its interval, sign-flip test, how many rose and fell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from rushes.core import Definition, Interval, Measurement
from rushes.core.definition import require_same_signature
from rushes.core.measurement import At
from rushes.paired.definitions import CHANGED_CLIPS, EXACT, MEAN_DIFFERENCE, SIGN_FLIP, STUDENT_T, of

Pairs: TypeAlias = Sequence[tuple[Measurement, Measurement]]
"""(first run, second run)."""

LEVEL = 0.95
_NO_PAIR = "no clip has a value in both runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedStatistics:
    """What two runs say about one metric; differences are second − first."""

    metric: Definition
    mean: Measurement
    """With its interval; where there is none, the note says why."""
    p: Measurement
    """Of the sign-flip test, the one that boards use too."""
    rose: Measurement
    fell: Measurement
    same: Measurement

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (self.mean, self.p, self.rose, self.fell, self.same)


def paired_statistics(pairs: Pairs, *, unlike: Pairs = (), why_unlike: str = "") -> PairedStatistics:
    """Statistics of (first, second) measurements of the same clips, all under one signature.

    Formula     see the definitions: `rushes metrics paired_mean_difference` and its neighbours
    Unit        mean and interval in the metric's own unit; p a probability; the rest clips
    Inputs      at least one pair; values may be missing. `unlike` are pairs of clips that do not compare because of
                facts that the metric depends on, and `why_unlike` says which: they count in the mean's note alone
    Edge cases  pairs without both values are left out, counted in the mean's note; see each definition
    Reference   Student's t; Clopper–Pearson for a true/false metric; the sign-flip test

    What all pairs are about (`at`), the statistics are about. Raises `DefinitionMismatch` when signatures differ.
    """
    metric = require_same_signature(m.definition for pair in (*pairs, *unlike) for m in pair)
    at = _place(metric, (*pairs, *unlike))
    values = [(a.stored_value, b.stored_value) for a, b in pairs]
    whole = [(float(a), float(b)) for a, b in values if a is not None and b is not None]
    binary = bool(whole) and all(isinstance(v, bool) for pair in values for v in pair if v is not None)
    # What the files hold has 8 decimals: a difference is computed on those and rounded alike, so that a value that
    # did not change is exactly 0.
    differences = [round(b - a, 8) for a, b in whole]
    rose, fell = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    interval, why = exact_interval(rose, fell, len(differences)) if binary else mean_interval(differences)
    note = "; ".join(
        part for part in (_lacking(pairs, whole, unlike, why_unlike), why and f"no interval: {why}") if part
    )
    if not differences:
        note = f"no clip is comparable: {why_unlike}" if unlike else _NO_PAIR
    return PairedStatistics(
        metric=metric,
        mean=_mean(metric, differences, interval, note, at),
        p=_sign_flip(metric, differences, note, at),
        rose=_count(metric, "rose", rose, len(differences), note, at),
        fell=_count(metric, "fell", fell, len(differences), note, at),
        same=_count(metric, "same", len(differences) - rose - fell, len(differences), note, at),
    )


def _place(metric: Definition, pairs: Pairs) -> At:
    """The metric's name, and what all of its numbers are about; a place of its own called "metric" stays."""
    common = frozenset.intersection(*(frozenset(m.at) for pair in pairs for m in pair))
    return tuple(({"metric": metric.name} | dict(common)).items())


def _lacking(pairs: Pairs, whole: Sequence[object], unlike: Pairs, why_unlike: str) -> str:
    """Which clips the mean does not rest on, and why; "" where it rests on all."""
    missing, total = len(pairs) - len(whole), len(pairs) + len(unlike)
    parts = [
        f"{missing} of {total} clips lack a value in one of the runs" if missing else "",
        f"{len(unlike)} of {total} clips are not comparable: {why_unlike}" if unlike else "",
    ]
    return "; ".join(part for part in parts if part)


def _mean(
    metric: Definition, differences: Sequence[float], interval: Interval | None, note: str, at: At
) -> Measurement:
    definition, n = of(MEAN_DIFFERENCE, metric), len(differences)
    if not n:
        return Measurement.missing(definition, note, at=at)
    mean = math.fsum(differences) / n
    return Measurement(definition=definition, value=mean, count=n, note=note, at=at, interval=interval)


def mean_interval(
    values: Sequence[float], *, noun: str = "differences", level: float = LEVEL
) -> tuple[Interval | None, str]:
    """Student's t interval of the mean over clips, or why there is none."""
    n = len(values)
    if n < 2:
        return None, "needs two clips or more"
    if min(values) == max(values):
        return None, f"all {noun} are equal: their spread cannot be told"
    mean = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = _t_quantile(n - 1, level) * deviation / math.sqrt(n)
    return Interval(low=mean - half, high=mean + half, level=level, method=STUDENT_T), ""


@lru_cache(maxsize=1024)  # a board asks for the same one thousands of times, and scipy takes its time
def _t_quantile(freedom: int, level: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, freedom))


@lru_cache(maxsize=1024)
def exact_interval(rose: int, fell: int, n: int, *, level: float = LEVEL) -> tuple[Interval | None, str]:
    """The interval of a true/false metric's mean difference, or why there is none."""
    changed = rose + fell
    if changed == 0:
        return None, "no clip changed"
    from scipy.stats import binomtest

    limits = binomtest(rose, changed).proportion_ci(level, method="exact")
    low, high = (changed / n * (2 * float(limit) - 1) for limit in (limits.low, limits.high))
    return Interval(low=low, high=high, level=level, method=EXACT), ""


def _sign_flip(metric: Definition, differences: Sequence[float], why_none: str, at: At) -> Measurement:
    from rushes.paired.sign_flip import sign_flip_p

    definition, changed = of(SIGN_FLIP, metric), sum(difference != 0 for difference in differences)
    if not differences:
        return Measurement.missing(definition, why_none, at=at)
    p = float(sign_flip_p([differences])[0])
    return Measurement(definition=definition, value=p, count=changed, note="" if changed else "no clip changed", at=at)


def _count(metric: Definition, change: str, number: int, n: int, why_none: str, at: At) -> Measurement:
    definition, at = of(CHANGED_CLIPS, metric), tuple((dict(at) | {"change": change}).items())
    if n == 0:
        return Measurement.missing(definition, why_none, at=at)
    return Measurement(definition=definition, value=number, count=n, at=at)
