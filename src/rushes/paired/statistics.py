"""One metric on the same clips, twice: mean difference, interval, exact sign test, how many rose and fell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.paired.definitions import (
    CHANGED_CLIPS,
    EXACT_HIGH,
    EXACT_LOW,
    MEAN_DIFFERENCE,
    SIGN_TEST,
    T_HIGH,
    T_LOW,
    of,
)

LEVEL = 0.95
_NO_PAIR = "no clip has a value in both runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedStatistics:
    """What two runs say about one metric; differences are second − first."""

    metric: Definition
    mean: Measurement
    low: Measurement
    high: Measurement
    sign_test: Measurement
    rose: Measurement
    fell: Measurement
    same: Measurement

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return (self.mean, self.low, self.high, self.sign_test, self.rose, self.fell, self.same)


def paired_statistics(pairs: Sequence[tuple[Measurement, Measurement]]) -> PairedStatistics:
    """Statistics of (first, second) measurements of the same clips, all under one signature.

    Formula     see the definitions: `rushes metrics paired_mean_difference` and its neighbours
    Unit        mean and interval in the metric's own unit; p a probability; the rest clips
    Inputs      at least one pair; values may be missing
    Edge cases  pairs without both values are left out, counted in the mean's note; see each definition
    Reference   Student's t; Clopper–Pearson for a true/false metric; the exact sign test

    Raises `DefinitionMismatch` when signatures differ.
    """
    metric = require_same_signature(m.definition for pair in pairs for m in pair)
    values = [(a.stored_value, b.stored_value) for a, b in pairs]
    whole = [(float(a), float(b)) for a, b in values if a is not None and b is not None]
    binary = bool(whole) and all(isinstance(v, bool) for pair in values for v in pair if v is not None)
    # What the files hold has 8 decimals: a difference is computed on those and rounded alike, so that a value that
    # did not change is exactly 0.
    differences = [round(b - a, 8) for a, b in whole]
    rose, fell = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    low, high = _exact_interval(metric, rose, fell, len(differences)) if binary else _t_interval(metric, differences)
    return PairedStatistics(
        metric=metric,
        mean=_mean(metric, differences, left_out=len(pairs) - len(whole)),
        low=low,
        high=high,
        sign_test=_sign_test(metric, rose, fell),
        rose=_count(metric, "rose", rose, len(differences)),
        fell=_count(metric, "fell", fell, len(differences)),
        same=_count(metric, "same", len(differences) - rose - fell, len(differences)),
    )


def _mean(metric: Definition, differences: Sequence[float], *, left_out: int) -> Measurement:
    definition = of(MEAN_DIFFERENCE, metric)
    if not differences:
        return Measurement.missing(definition, _NO_PAIR)
    note = f"{left_out} of {left_out + len(differences)} clips lack a value in one of the runs" if left_out else ""
    return Measurement(
        definition=definition, value=math.fsum(differences) / len(differences), count=len(differences), note=note
    )


def _t_interval(metric: Definition, differences: Sequence[float]) -> tuple[Measurement, Measurement]:
    low, high = of(T_LOW, metric), of(T_HIGH, metric)
    n = len(differences)
    if n < 2 or min(differences) == max(differences):
        why = "needs two clips or more" if n < 2 else "all differences are equal: their spread cannot be told"
        return Measurement.missing(low, why, count=n), Measurement.missing(high, why, count=n)
    from scipy.stats import t

    mean = math.fsum(differences) / n
    deviation = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1))
    half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * deviation / math.sqrt(n)
    return (
        Measurement(definition=low, value=mean - half, count=n),
        Measurement(definition=high, value=mean + half, count=n),
    )


def _exact_interval(metric: Definition, rose: int, fell: int, n: int) -> tuple[Measurement, Measurement]:
    low, high = of(EXACT_LOW, metric), of(EXACT_HIGH, metric)
    changed = rose + fell
    if changed == 0:
        why = "no clip changed"
        return Measurement.missing(low, why, count=n), Measurement.missing(high, why, count=n)
    from scipy.stats import binomtest

    limits = binomtest(rose, changed).proportion_ci(LEVEL, method="exact")
    ends = [changed / n * (2 * float(limit) - 1) for limit in (limits.low, limits.high)]
    return (
        Measurement(definition=low, value=ends[0], count=n),
        Measurement(definition=high, value=ends[1], count=n),
    )


def _sign_test(metric: Definition, rose: int, fell: int) -> Measurement:
    definition = of(SIGN_TEST, metric)
    if rose + fell == 0:
        return Measurement.missing(definition, "no clip changed")
    from scipy.stats import binomtest

    return Measurement(definition=definition, value=float(binomtest(rose, rose + fell).pvalue), count=rose + fell)


def _count(metric: Definition, change: str, number: int, n: int) -> Measurement:
    definition = of(CHANGED_CLIPS, metric).with_params(change=change)
    if n == 0:
        return Measurement.missing(definition, _NO_PAIR)
    return Measurement(definition=definition, value=number, count=n)
