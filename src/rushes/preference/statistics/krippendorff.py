"""Krippendorff's α: agreement beyond chance for any number of raters, missing ratings and four levels.

Formula     α = 1 − D_o / D_e; coincidences o_ck = Σ_u n_uc (n_uk − [c = k]) / (n_u − 1), n_c = Σ_k o_ck, n = Σ n_c:
            D_o = Σ o_ck δ²(c, k) / n,  D_e = Σ n_c n_k δ²(c, k) / (n (n − 1)), over c ≠ k
Levels      nominal    δ² = 1
            ordinal    δ² = (Σ_{g=c..k} n_g − (n_c + n_k)/2)²
            interval   δ² = (c − k)²
            ratio      δ² = ((c − k)/(c + k))²
Unit        1 is perfect agreement, 0 what chance gives, below 0 systematic disagreement
Edge cases  no unit with two ratings, or all ratings in one category (D_e = 0): None with a reason
Reference   Krippendorff 2011, "Computing Krippendorff's alpha-reliability"
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from rushes.errors import InputError
from rushes.preference.statistics.agreement import NO_SHARED_UNIT, UnitTable
from rushes.preference.statistics.intervals import Estimate
from rushes.preference.statistics.tally import Floats

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)


def krippendorff_alpha(table: UnitTable, *, level: Level = "nominal") -> Estimate:
    """α of units × categories. Interval and ratio need numeric categories; words take their place in the order.

    >>> from rushes.preference.statistics.agreement import unit_table
    >>> krippendorff_alpha(unit_table([[1, 1], [2, 2], [3, 3]]), level="interval").value
    1.0
    """
    if level not in LEVELS:
        raise InputError(f"a level is one of {', '.join(LEVELS)}; got {level!r}")
    pairable = table.pairable
    if not len(pairable):
        return Estimate.undefined(NO_SHARED_UNIT)
    coincidences = coincidence_matrix(pairable)
    marginal = coincidences.sum(axis=1)
    total = float(marginal.sum())
    distance = _distance(_positions(table), marginal, level)
    expected = float(marginal @ distance @ marginal) / (total * (total - 1.0))
    if expected == 0.0:
        return Estimate.undefined("all ratings are in one category, so chance explains them", count=len(pairable))
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
