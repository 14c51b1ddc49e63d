"""How sure is an agreement coefficient? The jackknife over samples.

Formula     the coefficient is computed anew without each sample, v_u; SE² = (n − 1)/n Σ (v_u − v̄)²;
            value ± t(n − 1) · SE, cut to −1 to 1
Meaning     other samples of the same kind, the same raters: it says nothing about other raters
Edge cases  fewer than two samples that were rated twice, a sample without which there is no value, or no spread at
            all: no interval, with the reason
Speed       samples with the same counts leave the same value, so each distinct row is left out once
Reference   Tukey 1958; Gwet's linearised errors agree with it (tests/preference/test_jackknife.py)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rushes.preference.statistics.agreement import UnitTable
from rushes.preference.statistics.intervals import CONFIDENCE, Bounds, Estimate, check_confidence
from rushes.preference.statistics.quantiles import student_quantile
from rushes.preference.statistics.tally import Floats, Whole

JACKKNIFE = "jackknife samples"
"""The interval's method."""
_NO_SPREAD = "no sample moves it: its spread cannot be told"


def jackknifed(
    table: UnitTable, statistic: Callable[[UnitTable], Estimate], *, confidence: float = CONFIDENCE
) -> Estimate:
    """The statistic of the table with its interval; the reason names the standard error."""
    whole = statistic(table)
    rated = table.counts[table.counts.sum(axis=1) > 0]
    if whole.value is None:
        return whole
    rows, counted = np.unique(rated, axis=0, return_counts=True)
    times = counted.astype(np.int64)
    values = [statistic(replace(table, counts=_without(rows, times, row))).value for row in range(len(rows))]
    return with_interval(whole, values, times, confidence=confidence)


def _without(rows: Floats, times: Whole, row: int) -> Floats:
    """The table's rows, one of this kind less."""
    left = times.copy()
    left[row] -= 1
    return np.asarray(np.repeat(rows, left, axis=0))


def with_interval(
    whole: Estimate, left_out: Sequence[float | None], times: Whole, *, confidence: float = CONFIDENCE
) -> Estimate:
    """The estimate with the jackknife interval of its leave-outs, `times` many of each."""
    check_confidence(confidence)
    number, found = int(times.sum()), [value for value in left_out if value is not None]
    if whole.value is None:
        return whole
    if number < 2:
        return _without_interval(whole, "one sample: its spread cannot be told")
    if len(found) < len(left_out):
        return _without_interval(whole, "without one of the samples there is no value, so no interval")
    values = np.array(found)
    mean = float(values @ times) / number
    error = math.sqrt((number - 1) / number * float(times @ (values - mean) ** 2))
    if error <= 1e-12:
        return _without_interval(whole, _NO_SPREAD)
    half = student_quantile(0.5 + confidence / 2.0, number - 1) * error
    bounds = Bounds(lower=whole.value - half, upper=whole.value + half).within(-1.0, 1.0)
    reasons = (whole.reason, f"standard error {error:.4f}")
    return replace(whole, interval=bounds, reason="; ".join(filter(None, reasons)))


def _without_interval(whole: Estimate, why: str) -> Estimate:
    return replace(whole, interval=Bounds.undefined(why))
