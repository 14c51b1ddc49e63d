"""How few votes hold the leader up? Drop-k: a small set of votes whose removal puts another system first.

Formula     the smallest k found such that a refit without k chosen votes has another leader
Method      for each challenger, votes are ordered by their influence on its gap to the leader (one Newton step), the
            shortest prefix that flips the leader is found with a refit at each trial, and the order is renewed at
            the point found until k no longer falls. Every answer is verified by its refit; a smaller set
            may exist, so k is an upper bound (exact for two systems without ties).
Edge cases  two leaders level: 0. No removal found that leaves votes which can be ranked and another leader: None.
Reference   Huang et al. 2025, dropping a handful of preferences can change the top of an arena ranking
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rushes.stats.intervals import Floats
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.estimation import sum_zero_inverse
from rushes.stats.votes.ranking import Ranking, fit
from rushes.stats.votes.tally import PairCounts

_ROUNDS = 4
_SCANNED = 100
_LEVEL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragility:
    """The votes whose removal changes the leader."""

    leader: str
    challenger: str | None
    """Who leads after the removal."""
    votes: int | None
    """How many votes are removed; None where no removal was found."""
    share: float | None
    """Of all votes."""
    removed: tuple[tuple[str, str, str, int], ...] = ()
    """(first system, second system, outcome "first"/"second"/"tie", how many)."""
    reason: str = ""


def drop_k(ranking: Ranking) -> Fragility:
    """Fewest votes found whose removal changes the leader. Works on whole votes: not for half-tie.

    >>> from rushes.stats.votes.ranking import rank
    >>> drop_k(rank(PairCounts.of_wins(["x", "y"], [[0, 7], [4, 0]]))).votes  # 7 − 4 wins level it, one more flips
    4
    """
    leader = ranking.order[0]
    if ranking.tie_policy == "half-tie":
        return Fragility(leader=leader, challenger=None, votes=None, share=None, reason="half a tie cannot be removed")
    top = sorted(ranking.log_worth, reverse=True)
    if top[0] - top[1] <= _LEVEL:
        return Fragility(leader=leader, challenger=ranking.order[1], votes=0, share=0.0, reason="the lead is shared")
    best: tuple[int, Floats, str] | None = None
    for challenger in ranking.order[1:]:
        found = _fewest(ranking, leader, challenger, best[0] if best else None)
        if found is not None:
            best = found
    if best is None:
        return Fragility(
            leader=leader, challenger=None, votes=None, share=None, reason="no removal found that changes the leader"
        )
    number, taken, challenger = best
    return Fragility(
        leader=leader,
        challenger=challenger,
        votes=number,
        share=number / ranking.problem.counts.total,
        removed=tuple(_named(ranking.problem.counts, taken)),
    )


def _fewest(ranking: Ranking, leader: str, challenger: str, below: int | None) -> tuple[int, Floats, str] | None:
    """The shortest flipping prefix for one challenger, if shorter than `below`: how many, which, who leads then."""
    best, point = None, ranking
    for _ in range(_ROUNDS):
        order = _influence(point, leader, challenger, ranking.problem.counts)
        found = _shortest(ranking, order, leader, below)
        if found is None:
            break
        best, below = found, found[0]
        after = _without(ranking, found[1])
        if after is None or after.problem.has_tie != ranking.problem.has_tie:
            break  # without its last tie, the refit has another set of parameters
        point = after
    return best


def _influence(point: Ranking, leader: str, challenger: str, counts: PairCounts) -> list[tuple[int, int]]:
    """Cells (outcome, pair) whose removal narrows the leader's gap, strongest first."""
    names = point.systems
    contrast = np.zeros(len(point.x))
    contrast[names.index(leader)], contrast[names.index(challenger)] = 1.0, -1.0
    bread = sum_zero_inverse(point.problem.information(point.x), point.problem.size)
    pull = bread @ contrast
    at = replace(point.problem, counts=counts).at(point.x)
    gain = at.score_d * (pull[counts.first] - pull[counts.second])
    if point.problem.has_tie:
        gain = gain + at.score_u * pull[-1]
    cells = [(float(gain[o, k]), o, k) for o in range(3) for k in range(gain.shape[1]) if gain[o, k] > 0.0]
    return [(o, k) for _, o, k in sorted(cells, key=lambda cell: (-cell[0], cell[1], cell[2]))]


def _shortest(
    ranking: Ranking, order: list[tuple[int, int]], leader: str, below: int | None
) -> tuple[int, Floats, str] | None:
    """The shortest prefix of the order that changes the leader.

    Up to `_SCANNED` votes every length is tried. Beyond, by bisection: a prefix too short leaves the leader, one too
    long leaves votes that cannot be ranked, and the lengths between flip it.
    """
    seen = ranking.problem.counts.cells
    available = int(sum(seen[o, k] for o, k in order))
    high = available if below is None else min(available, below - 1)
    if high < 1 or _changed(ranking, order, high, leader) is None:
        return None
    start, stop = 1, high
    if high > _SCANNED:
        low = 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _changed(ranking, order, middle, leader) else (middle, high)
        start, stop = high, min(high + _SCANNED, stop)
    for number in range(start, stop + 1):
        found = _changed(ranking, order, number, leader)
        if found is not None and found[2]:
            return found
    return None


def _changed(
    ranking: Ranking, order: list[tuple[int, int]], number: int, leader: str
) -> tuple[int, Floats, str] | None:
    """How many votes went, which, and who leads then, "" where nobody can be ranked any more; None where the leader
    still leads."""
    taken = _prefix(ranking.problem.counts.cells, order, number)
    after = _without(ranking, taken)
    if after is None:
        return number, taken, ""
    ahead = after.log_worth - after.log_worth[after.systems.index(leader)]
    return None if ahead.max() <= _LEVEL else (number, taken, after.systems[int(ahead.argmax())])


def _prefix(seen: Floats, order: list[tuple[int, int]], number: int) -> Floats:
    taken, left = np.zeros_like(seen), float(number)
    for o, k in order:
        taken[o, k] = min(left, seen[o, k])
        left -= taken[o, k]
        if left <= 0:
            break
    return taken


def _without(ranking: Ranking, taken: Floats) -> Ranking | None:
    """The ranking refitted without these votes; None where what is left cannot be ranked."""
    old = ranking.problem.counts
    left = old.cells - taken
    counts = old.only(left.sum(axis=0) > 0, left)
    try:
        return fit(replace(ranking.problem, counts=counts), votes=counts.total, ties=float(counts.ties.sum()))
    except RankingError:
        return None


def _named(counts: PairCounts, taken: Floats) -> Iterator[tuple[str, str, str, int]]:
    for o, k in zip(*np.nonzero(taken), strict=True):
        names = counts.systems[counts.first[k]], counts.systems[counts.second[k]]
        yield (*names, ("first", "second", "tie")[o], int(taken[o, k]))
