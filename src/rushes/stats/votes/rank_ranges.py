"""Which ranks are still possible: from pairwise differences, all of them covered together.

Formula     lowest rank number of i = 1 + #{j surely better}; highest = n − #{j surely worse}; "surely": the interval
            of θ_j − θ_i, at the critical value for all n(n−1)/2 differences together (Bonferroni), does not hold 0
Edge cases  no covariance (one rater): every rank from 1 to n stays possible, and `why` says so
"""

from __future__ import annotations

from dataclasses import dataclass

from rushes.core import Why
from rushes.stats.intervals import LEVEL
from rushes.stats.votes.ranking import Ranking
from rushes.stats.votes.uncertainty import Uncertainty


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """The ranks a system may hold; 1 is the strongest, and equals share a rank (1, 1, 3)."""

    system: str
    rank: int
    best: int
    worst: int
    why: Why | None = None


def rank_ranges(ranking: Ranking, spread: Uncertainty | Why, *, confidence: float = LEVEL) -> tuple[RankRange, ...]:
    """A range for every system, strongest first. `spread` is what `uncertainty` gave."""
    size, place = len(ranking.systems), {name: i for i, name in enumerate(ranking.systems)}
    ranks = shared_ranks(ranking)
    if isinstance(spread, Why):
        return tuple(RankRange(system=name, rank=ranks[name], best=1, worst=size, why=spread) for name in ranking.order)
    critical = _joint_critical(spread, size * (size - 1) // 2, confidence)
    found = []
    for name in ranking.order:
        signs = [_sure_sign(ranking, spread, place[name], j, critical) for j in range(size) if j != place[name]]
        best, worst = 1 + signs.count(-1), size - signs.count(1)
        found.append(RankRange(system=name, rank=ranks[name], best=best, worst=worst))
    return tuple(found)


def shared_ranks(ranking: Ranking) -> dict[str, int]:
    """One more than the number of stronger systems; strengths that agree to nine decimals are equal."""
    strength = ranking.log_worth.round(9)
    return {name: 1 + int((strength > own).sum()) for name, own in zip(ranking.systems, strength, strict=True)}


def _joint_critical(spread: Uncertainty, comparisons: int, confidence: float) -> float:
    from scipy.stats import norm, t  # slow to load, and most commands need no ranking

    tail = (1.0 - confidence) / (2.0 * max(comparisons, 1))
    return float(norm.isf(tail) if spread.freedom is None else t.isf(tail, spread.freedom))


def _sure_sign(ranking: Ranking, spread: Uncertainty, i: int, j: int, critical: float) -> int:
    """1 when i is surely ahead of j, −1 when surely behind, 0 when open."""
    lead = float(ranking.log_worth[i] - ranking.log_worth[j])
    if abs(lead) <= critical * spread.difference_se(i, j) or abs(lead) < 1e-12:
        return 0
    return 1 if lead > 0 else -1
