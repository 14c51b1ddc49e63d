"""Agreement corrected for chance: Cohen's κ (plain and weighted), Fleiss's κ, Gwet's AC1.

Formula     (p_a − p_e) / (1 − p_e): p_a is percent agreement, p_e what chance is taken to give
            Fleiss  p_e = Σ π_c²,  π_c the mean over units of the share of ratings in c
            AC1     p_e = Σ π_c (1 − π_c) / (q − 1),  q categories
            Cohen   two raters; p_e = Σ p_1c p_2c from each rater's own shares
Unit        1 is perfect agreement, 0 what chance gives
Edge cases  nothing rated twice, or p_e = 1 (one category used): none, with the reason. A missing rating leaves its unit
            with the raters it has (Gwet 2014); units rated once count in π, not in p_a.
Reference   Cohen 1960, 1968 (weights); Fleiss 1971; Gwet 2008, 2014
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from rushes.core import Estimate, Interval, Why
from rushes.core.errors import InputError
from rushes.core.estimate import Value
from rushes.stats.agreement import Agreement, UnitTable, unit_agreement, with_jackknife
from rushes.stats.intervals import LEVEL, Floats, normal_quantile

KappaWeights: TypeAlias = Literal["none", "linear", "quadratic"]
KAPPA_WEIGHTS: tuple[KappaWeights, ...] = get_args(KappaWeights)
LARGE_SAMPLE = "large-sample"


def fleiss_kappa(table: UnitTable) -> Estimate:
    """Fleiss's κ, generalised to missing ratings.

    >>> from rushes.stats.agreement import unit_table
    >>> fleiss_kappa(unit_table([["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]])).value
    0.0
    """
    share = _category_shares(table)
    return _corrected(table, float(share @ share))


def gwet_ac1(table: UnitTable) -> Estimate:
    """Gwet's AC1: stays meaningful when nearly all ratings are in one category."""
    share, size = _category_shares(table), len(table.categories)
    if size < 2:
        return Estimate.none(Why.ONE_POSSIBLE_CATEGORY)
    return _corrected(table, float(share @ (1.0 - share)) / (size - 1))


def _category_shares(table: UnitTable) -> Floats:
    size = table.counts.sum(axis=1, keepdims=True)
    rated = table.counts[size[:, 0] > 0] / size[size[:, 0] > 0]
    return rated.mean(axis=0) if len(rated) else np.zeros(len(table.categories))


def _corrected(table: UnitTable, by_chance: float) -> Estimate:
    pairable = table.pairable
    if not len(pairable):
        return Estimate.none(Why.NO_SHARED_UNIT)
    if by_chance >= 1.0 - 1e-12:
        return Estimate.none(Why.ONE_CATEGORY, count=len(pairable))
    observed = float(unit_agreement(pairable).mean())
    return Estimate(value=(observed - by_chance) / (1.0 - by_chance), count=len(pairable))


def cohen_kappa(table: ArrayLike, *, weights: KappaWeights = "none", confidence: float = LEVEL) -> Agreement:
    """Cohen's κ of two raters from their cross table (rows: one rater's categories, columns: the other's).

    Weighted, categories stand in order and a near miss counts in part: linear 1 − |i − j|/(q − 1), quadratic
    1 − (i − j)²/(q − 1)². Interval: the large-sample error of Fleiss, Cohen & Everitt (1969).

    >>> round(cohen_kappa([[20, 5], [10, 15]]).value, 12)
    0.4
    """
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(f"Cohen's kappa needs a square table; got shape {counts.shape}")
    total = float(counts.sum())
    if not total:
        return Agreement(value=None, count=0, why=Why.NO_SHARED_UNIT)
    credit, share = _credits(len(counts), weights), counts / total
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    by_chance = float(rows @ credit @ columns)
    if by_chance >= 1.0 - 1e-12:
        return Agreement(value=None, count=int(total), why=Why.ONE_CATEGORY)
    value = (float((credit * share).sum()) - by_chance) / (1.0 - by_chance)
    # w_ij less what the two marginals give it: the influence of one unit on κ.
    pull = credit - ((credit @ columns)[:, None] + (rows @ credit)[None, :]) * (1.0 - value)
    spread = float((share * pull**2).sum()) - (value - by_chance * (1.0 - value)) ** 2
    error = math.sqrt(max(0.0, spread) / total) / (1.0 - by_chance)
    half = normal_quantile(0.5 + confidence / 2.0) * error
    interval = Interval(low=value - half, high=value + half, level=confidence, method=LARGE_SAMPLE).within(-1.0, 1.0)
    return Agreement(value=value, count=int(total), interval=interval, error=error)


def _credits(size: int, weights: KappaWeights) -> Floats:
    """What a pair of categories counts as agreement: 1 on the diagonal."""
    if weights not in KAPPA_WEIGHTS:
        raise InputError(f"kappa's weights are {', '.join(KAPPA_WEIGHTS)}; got {weights!r}")
    place = np.arange(size, dtype=np.float64)
    gap = np.abs(place[:, None] - place[None, :]) / max(size - 1, 1)
    if weights == "none":
        return np.eye(size)
    return np.asarray(1.0 - (gap if weights == "linear" else gap**2), dtype=np.float64)


def mean_cohen_kappa(
    units: Iterable[Mapping[str, Hashable]],
    *,
    categories: Sequence[Hashable],
    weights: KappaWeights = "none",
    confidence: float = LEVEL,
) -> Agreement:
    """Cohen's κ averaged over all pairs of raters who share units (Light 1971); count = those pairs.

    Inputs      per unit, each rater's category; `categories` in order, for the weights
    Edge cases  pairs whose κ is undefined (both used one category) are left out and counted
    Interval    jackknife over units
    """
    place = {name: k for k, name in enumerate(categories)}
    shared = [_meetings(unit, place) for unit in units if len(unit) > 1]
    tables: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros((len(place), len(place))))
    for pair, row, column in (one for meetings in shared for one in meetings):
        tables[pair][row, column] += 1.0
    found = {pair: cohen_kappa(tables[pair], weights=weights).value for pair in sorted(tables)}
    if not found:
        return Agreement(value=None, count=0, why=Why.NO_SHARED_UNIT)
    whole, left_out = _mean(found.values()), sum(value is None for value in found.values())
    if whole is None:
        return Agreement(value=None, count=0, why=Why.ONE_CATEGORY, left_out=left_out)
    estimate = Agreement(value=whole, count=len(found) - left_out, left_out=left_out)
    values = [_mean((found | _changed(tables, meetings, weights)).values()) for meetings in shared]
    return with_jackknife(estimate, values, np.ones(len(values), dtype=np.int64), confidence=confidence)


def _mean(values: Iterable[Value]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


_Meeting: TypeAlias = tuple[tuple[str, str], int, int]


def _meetings(unit: Mapping[str, Hashable], place: Mapping[Hashable, int]) -> list[_Meeting]:
    """Every two raters of a unit, and where their answers stand in the categories."""
    return [((one, other), place[unit[one]], place[unit[other]]) for one, other in combinations(sorted(unit), 2)]


def _changed(
    tables: Mapping[tuple[str, str], Floats], meetings: Sequence[_Meeting], weights: KappaWeights
) -> dict[tuple[str, str], Value]:
    """κ of the pairs that met on one sample, without it."""
    found = {}
    for pair, row, column in meetings:
        table = tables[pair].copy()
        table[row, column] -= 1.0
        found[pair] = cohen_kappa(table, weights=weights).value
    return found
