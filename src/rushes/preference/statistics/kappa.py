"""Chance-corrected agreement: Cohen's κ, Fleiss's κ, Gwet's AC1.

Formula     (p_a − p_e) / (1 − p_e): p_a is percent agreement, p_e what chance is taken to give
            Fleiss  p_e = Σ π_c²,  π_c the mean over units of the share of ratings in c
            AC1     p_e = Σ π_c (1 − π_c) / (q − 1),  q categories
            Cohen   two raters; p_e = Σ p_1c p_2c from each rater's own shares
Unit        1 is perfect agreement, 0 what chance gives
Edge cases  nothing rated twice, or p_e = 1 (one category used): None with a reason. A missing rating leaves its unit
            with the raters it has (Gwet 2014); units rated once count in π, not in p_a.
Reference   Cohen 1960; Fleiss 1971; Gwet 2008, 2014
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from rushes.errors import InputError
from rushes.preference.statistics.agreement import (
    NO_SHARED_UNIT,
    WINNER_CATEGORIES,
    UnitTable,
    unit_agreement,
    votes_by_sample,
)
from rushes.preference.statistics.intervals import Estimate
from rushes.preference.statistics.tally import Floats
from rushes.preference.votes import Vote

_ONE_CATEGORY = "all ratings are in one category, so chance explains them"


def fleiss_kappa(table: UnitTable) -> Estimate:
    """Fleiss's κ, generalised to missing ratings.

    >>> from rushes.preference.statistics.agreement import unit_table
    >>> fleiss_kappa(unit_table([["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]])).value
    0.0
    """
    share = _category_shares(table)
    return _corrected(table, float(share @ share))


def gwet_ac1(table: UnitTable) -> Estimate:
    """Gwet's AC1: stays meaningful when nearly all ratings are in one category."""
    share, size = _category_shares(table), len(table.categories)
    if size < 2:
        return Estimate.undefined("one category cannot show agreement")
    return _corrected(table, float(share @ (1.0 - share)) / (size - 1))


def _category_shares(table: UnitTable) -> Floats:
    size = table.counts.sum(axis=1, keepdims=True)
    rated = table.counts[size[:, 0] > 0] / size[size[:, 0] > 0]
    return rated.mean(axis=0) if len(rated) else np.zeros(len(table.categories))


def _corrected(table: UnitTable, by_chance: float) -> Estimate:
    pairable = table.pairable
    if not len(pairable):
        return Estimate.undefined(NO_SHARED_UNIT)
    if by_chance >= 1.0 - 1e-12:
        return Estimate.undefined(_ONE_CATEGORY, count=len(pairable))
    observed = float(unit_agreement(pairable).mean())
    return Estimate(value=(observed - by_chance) / (1.0 - by_chance), count=len(pairable))


def cohen_kappa(table: ArrayLike) -> Estimate:
    """Cohen's κ of two raters from their cross table (rows: one rater's categories, columns: the other's).

    >>> round(cohen_kappa([[20, 5], [10, 15]]).value, 12)
    0.4
    """
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(f"Cohen's kappa needs a square table; got shape {counts.shape}")
    total = float(counts.sum())
    if not total:
        return Estimate.undefined(NO_SHARED_UNIT)
    by_chance = float(counts.sum(axis=1) @ counts.sum(axis=0)) / total**2
    if by_chance >= 1.0 - 1e-12:
        return Estimate.undefined(_ONE_CATEGORY, count=int(total))
    observed = float(np.trace(counts) / total)
    return Estimate(value=(observed - by_chance) / (1.0 - by_chance), count=int(total))


def mean_cohen_kappa(votes: Iterable[Vote]) -> Estimate:
    """Cohen's κ averaged over all pairs of raters who share samples (Light 1971); count = those pairs.

    Pairs whose κ is undefined (both used one category) are left out and named in the reason.
    """
    found = [cohen_kappa(table) for _, table in sorted(_cross_tables(votes).items())]
    values = [one.value for one in found if one.value is not None]
    if not found:
        return Estimate.undefined(NO_SHARED_UNIT)
    if not values:
        return Estimate.undefined(f"in all {len(found)} rater pairs, all votes are in one category")
    left_out = len(found) - len(values)
    reason = f"{left_out} of {len(found)} rater pairs left out: all their votes in one category" if left_out else ""
    return Estimate(value=float(np.mean(values)), count=len(values), reason=reason)


def _cross_tables(votes: Iterable[Vote]) -> dict[tuple[str, str], Floats]:
    place = {name: k for k, name in enumerate(WINNER_CATEGORIES)}
    tables: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros((3, 3)))
    for given in votes_by_sample(votes).values():
        for one, other in combinations(sorted(given, key=lambda vote: vote.rater), 2):
            tables[one.rater, other.rater][place[one.winner], place[other.winner]] += 1.0
    return tables
