"""Do raters agree? Percent agreement and Krippendorff's α, and the jackknife of any agreement.

A unit is what was rated (a sample, a clip), a category what was said of it. Report percent agreement, α and AC1
(`kappa`) together, because κ collapses when nearly all ratings go one way.

α           1 − D_o / D_e; coincidences o_ck = Σ_u n_uc (n_uk − [c = k]) / (n_u − 1), n_c = Σ_k o_ck, n = Σ n_c:
            D_o = Σ o_ck δ²(c, k) / n,  D_e = Σ n_c n_k δ²(c, k) / (n (n − 1)), over c ≠ k
            nominal    δ² = 1
            ordinal    δ² = (Σ_{g=c..k} n_g − (n_c + n_k)/2)²
            interval   δ² = (c − k)²
            ratio      δ² = ((c − k)/(c + k))²
Unit        1 is perfect agreement, 0 what chance gives, below 0 systematic disagreement
Edge cases  no unit with two ratings, or all ratings in one category: none, with the reason. A missing rating leaves its
            unit with the raters it has.
Interval    the jackknife over units: the coefficient without each unit, v_u; SE² = (n − 1)/n Σ (v_u − v̄)²;
            value ± t(n − 1) · SE, cut to −1 to 1: other units of the same kind, the same raters. It says nothing about
            other raters. Gwet's linearised errors agree with it.
Reference   Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; Tukey 1958
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from rushes.core import Estimate, Interval, Why
from rushes.core.errors import InputError
from rushes.core.estimate import Value
from rushes.stats.intervals import LEVEL, Floats, Whole, check_confidence, student_quantile
from rushes.stats.means import share

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
WILSON_UNITS = "wilson samples"
JACKKNIFE = "jackknife samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Estimate):
    """An agreement with its standard error."""

    error: float | None = None
    left_out: int = 0
    """Pairs of raters without a value of their own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable:
    """How many raters put each unit into each category: one row per unit, one column per category."""

    counts: Floats
    categories: tuple[Hashable, ...]

    @property
    def pairable(self) -> Floats:
        """Rows with two ratings or more; the others say nothing about agreement."""
        return np.asarray(self.counts[self.counts.sum(axis=1) >= 2])


def unit_table(units: Iterable[Sequence[Hashable | None]], *, categories: Sequence[Hashable] = ()) -> UnitTable:
    """Count ratings per unit; None is a missing rating. Without `categories`, those that occur, sorted.

    >>> unit_table([[1, 1, None], [1, 2, 2]]).counts.tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    rows = [[value for value in unit if value is not None] for unit in units]
    names = tuple(categories) or tuple(sorted({value for row in rows for value in row}, key=_sort_key))
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for value in row:
            counts[number, place[value]] += 1.0
    return UnitTable(counts=counts, categories=names)


def _sort_key(value: Hashable) -> tuple[bool, object]:
    return (isinstance(value, str), value)


def percent_agreement(table: UnitTable, *, confidence: float = LEVEL) -> Estimate:
    """Share of rater pairs that gave a unit the same category, averaged over units.

    Formula     mean over units with n_u ≥ 2 of Σ_c n_uc (n_uc − 1) / (n_u (n_u − 1))
    Unit        ratio, 0 to 1; higher is more agreement, chance included
    Inputs      ratings per unit; a unit with fewer than two ratings is left out
    Interval    Wilson's, with units as trials: raters of one unit are not independent

    >>> percent_agreement(unit_table([["a", "a"], ["a", "b"]])).value
    0.5
    """
    shares = unit_agreement(table.pairable)
    if not len(shares):
        return Estimate.none(Why.NO_SHARED_UNIT)
    return share(float(shares.sum()), len(shares), level=confidence, method=WILSON_UNITS)


def unit_agreement(counts: Floats) -> Floats:
    """Share of agreeing rater pairs in each row."""
    size = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1.0)).sum(axis=1) / (size * (size - 1.0)))


def krippendorff_alpha(table: UnitTable, *, level: Level = "nominal") -> Estimate:
    """α of units × categories. Interval and ratio need numeric categories; words take their place in the order.

    >>> krippendorff_alpha(unit_table([[1, 1], [2, 2], [3, 3]]), level="interval").value
    1.0
    """
    if level not in LEVELS:
        raise InputError(f"a level is one of {', '.join(LEVELS)}; got {level!r}")
    pairable = table.pairable
    if not len(pairable):
        return Estimate.none(Why.NO_SHARED_UNIT)
    coincidences = coincidence_matrix(pairable)
    marginal = coincidences.sum(axis=1)
    total = float(marginal.sum())
    distance = _distance(_positions(table), marginal, level)
    expected = float(marginal @ distance @ marginal) / (total * (total - 1.0))
    if expected == 0.0:
        return Estimate.none(Why.ONE_CATEGORY, count=len(pairable))
    return Estimate(value=1.0 - float((coincidences * distance).sum()) / total / expected, count=len(pairable))


def coincidence_matrix(pairable: Floats) -> Floats:
    """o_ck over units with two ratings or more."""
    weighted = pairable / (pairable.sum(axis=1, keepdims=True) - 1.0)
    return np.asarray(weighted.T @ pairable - np.diag(weighted.sum(axis=0)))


def _positions(table: UnitTable) -> Floats:
    numeric = all(isinstance(value, (int, float)) for value in table.categories)
    values = table.categories if numeric else range(len(table.categories))
    return np.array([float(value) for value in values])  # type: ignore[arg-type]


def _distance(values: Floats, marginal: Floats, level: Level) -> Floats:
    """δ² for every pair of categories; 0 on the diagonal."""
    gap = values[:, None] - values[None, :]
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return gap**2
    if level == "ratio":
        both = values[:, None] + values[None, :]
        return np.divide(gap, both, out=np.zeros_like(gap), where=both != 0.0) ** 2
    upto = np.cumsum(marginal)
    between = np.abs(upto[:, None] - upto[None, :]) - (marginal[:, None] + marginal[None, :]) / 2.0
    # Σ from the lower category to the higher, both ends included, less half of each end.
    row, column = np.indices(gap.shape)
    lower = np.where(row <= column, marginal[:, None], marginal[None, :])
    return np.where(np.eye(len(values), dtype=bool), 0.0, (between + lower) ** 2)


def nominal_alphas(counts: Floats, times: Floats) -> Floats:
    """Nominal α with each unit counted so many times, for every row of `times`; NaN where there is none.

    `krippendorff_alpha(level="nominal")` of the units repeated, for thousands of draws at once.

    >>> nominal_alphas(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([[1.0, 1.0, 1.0]])).round(6).tolist()
    [0.444444]
    """
    sizes = counts.sum(axis=1)
    disagreement = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    n = times @ sizes
    expected = n**2 - ((times @ counts) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1.0 - (times @ disagreement) * (n - 1) / expected, np.nan)


def jackknifed(table: UnitTable, statistic: Callable[[UnitTable], Estimate], *, confidence: float = LEVEL) -> Agreement:
    """The statistic of the table with its interval and standard error.

    Units with the same counts leave the same value, so each distinct row is left out once.
    """
    found = statistic(table)
    whole = Agreement(value=found.value, count=found.count, why=found.why)
    if whole.value is None:
        return whole
    rated = table.counts[table.counts.sum(axis=1) > 0]
    rows, counted = np.unique(rated, axis=0, return_counts=True)
    times = counted.astype(np.int64)
    values = [statistic(replace(table, counts=_without(rows, times, row))).value for row in range(len(rows))]
    return with_jackknife(whole, values, times, confidence=confidence)


def _without(rows: Floats, times: Whole, row: int) -> Floats:
    """The table's rows, one of this kind less."""
    left = times.copy()
    left[row] -= 1
    return np.asarray(np.repeat(rows, left, axis=0))


def with_jackknife(
    whole: Agreement, left_out: Sequence[Value], times: Whole, *, confidence: float = LEVEL
) -> Agreement:
    """The estimate with the jackknife interval of its leave-outs, `times` many of each; none without a spread."""
    check_confidence(confidence)
    number, found = int(times.sum()), [value for value in left_out if value is not None]
    if whole.value is None:
        return whole
    if number < 2:
        return replace(whole, why=Why.ONE_SAMPLE)
    if len(found) < len(left_out):
        return replace(whole, why=Why.NEEDS_EVERY_SAMPLE)
    values = np.array(found)
    mean = float(values @ times) / number
    error = math.sqrt((number - 1) / number * float(times @ (values - mean) ** 2))
    if error <= 1e-12:
        return replace(whole, why=Why.NO_SAMPLE_MOVES_IT)
    half = student_quantile(0.5 + confidence / 2.0, number - 1) * error
    interval = Interval(low=whole.value - half, high=whole.value + half, level=confidence, method=JACKKNIFE)
    return replace(whole, interval=interval.within(-1.0, 1.0), error=error)
