"""Drop-k: exact for two systems, never below the true minimum, always verified."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.fragility import drop_k
from rushes.stats.votes.ranking import rank
from rushes.stats.votes.tally import PairCounts


def two(wins: int, losses: int, ties: int = 0) -> PairCounts:
    return PairCounts.of_wins(["x", "y"], [[0, wins], [losses, 0]], [[0, ties], [ties, 0]])


@pytest.mark.parametrize(("wins", "losses"), [(5, 4), (12, 4), (60, 40), (500_000, 400_000)])
def test_two_systems_by_hand(wins: int, losses: int) -> None:
    # y leads once x keeps fewer than `losses` wins: wins − losses + 1 must go.
    found = drop_k(rank(two(wins, losses)))
    assert (found.leader, found.challenger, found.votes) == ("x", "y", wins - losses + 1)
    assert found.share == pytest.approx((wins - losses + 1) / (wins + losses))
    assert found.removed == (("x", "y", "first", wins - losses + 1),)


def test_ties_are_not_what_holds_a_lead() -> None:
    assert drop_k(rank(two(7, 4, 6))).votes == 4


def test_a_shared_lead_needs_no_removal() -> None:
    assert drop_k(rank(two(3, 3))).votes == 0


def test_half_a_tie_cannot_be_removed() -> None:
    found = drop_k(rank(two(5, 3, 1), tie_policy="half-tie"))
    assert (found.votes, found.reason) == (None, "half a tie cannot be removed")


def test_no_removal_leaves_a_ranking_with_another_leader() -> None:
    # One win each way keeps the graph alive: taking x's only surplus leaves them level, taking more ends it.
    found = drop_k(rank(two(2, 1)))
    assert (found.votes, found.reason) == (None, "no removal found that changes the leader")


def brute_force(counts: PairCounts) -> int | None:
    """The true minimum: every way to remove votes."""
    start = rank(counts)
    leader = start.order[0]
    cells = np.stack([counts.wins_first, counts.wins_second, counts.ties]).astype(int)
    best = None
    for taken in product(*(range(n + 1) for n in cells.ravel())):
        number = sum(taken)
        if best is not None and number >= best:
            continue
        left = cells - np.array(taken).reshape(cells.shape)
        wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
        wins[counts.first, counts.second], wins[counts.second, counts.first] = left[0], left[1]
        ties[counts.first, counts.second] = ties[counts.second, counts.first] = left[2]
        try:
            after = rank(PairCounts.of_wins(counts.systems, wins, ties))
        except RankingError:
            continue
        ahead = after.log_worth - after.log_worth[after.systems.index(leader)]
        if ahead.max() > 1e-9:
            best = number
    return best


@pytest.mark.parametrize(
    "wins",
    [
        [[0, 3, 2], [1, 0, 2], [1, 1, 0]],
        [[0, 2, 3], [2, 0, 1], [1, 2, 0]],
        [[0, 4, 1], [2, 0, 2], [1, 1, 0]],
    ],
)
def test_never_below_and_close_to_the_true_minimum(wins: list[list[int]]) -> None:
    counts = PairCounts.of_wins("abc", wins)
    true, found = brute_force(counts), drop_k(rank(counts)).votes
    assert true is not None and found is not None
    assert true <= found <= true + 1


def test_many_systems_are_answered_and_verified() -> None:
    draw = np.random.default_rng(3)
    wins = draw.integers(200, 400, (20, 20)).astype(float)
    np.fill_diagonal(wins, 0)
    fit = rank(PairCounts.of_wins([f"s{k:02d}" for k in range(20)], wins))
    found = drop_k(fit)
    assert found.votes is not None and found.challenger is not None
    for first, second, outcome, number in found.removed:
        i, j = fit.systems.index(first), fit.systems.index(second)
        wins[(i, j) if outcome == "first" else (j, i)] -= number
    assert rank(PairCounts.of_wins(fit.systems, wins)).order[0] == found.challenger != found.leader
