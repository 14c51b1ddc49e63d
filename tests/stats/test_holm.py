"""Holm's adjustment by hand, and against the definition it is a shortcut of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest

from rushes.compare.board.families import shares as board_shares
from rushes.compare.board.model import Family
from rushes.stats.families import holm, holm_families

Shares = Callable[[Sequence[int]], Mapping[int, float]]


def test_by_hand() -> None:
    # sorted .01, .02, .03, .04 of m = 4: 4·.01 = .04, 3·.02 = .06, 2·.03 = .06, 1·.04 → .06, never below the one before
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def closed_testing(p: list[float]) -> list[float]:
    """Bonferroni on every set of hypotheses that holds one: what Holm is equal to."""
    sets = [s for size in range(1, len(p) + 1) for s in combinations(range(len(p)), size)]
    return [max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s) for i in range(len(p))]


def test_equals_closed_testing() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        p = np.round(rng.random(rng.integers(1, 8)) ** 3, 2).tolist()
        assert holm(p) == pytest.approx(closed_testing(p), abs=1e-12)


def _closed(families: list[list[float]], shares: Shares) -> list[list[float]]:
    """Every test's largest p over all intersections that hold it, each by a weighted Bonferroni test."""
    tests = [(f, k) for f, some in enumerate(families) for k in range(len(some))]
    found = {test: 0.0 for test in tests}
    for size in range(1, len(tests) + 1):
        for members in combinations(tests, size):
            left = sorted({f for f, _ in members})
            share = shares(left)
            weights = {(f, k): share[f] / sum(g == f for g, _ in members) for f, k in members}
            p = min(1.0, min(families[f][k] / weights[f, k] for f, k in members))
            found |= {test: max(found[test], p) for test in members}
    return [[found[f, k] for k in range(len(some))] for f, some in enumerate(families)]


def _even(left: Sequence[int]) -> dict[int, float]:
    return {family: 1 / len(left) for family in left}


def _of_board(left: Sequence[int]) -> dict[int, float]:
    kinds = list(Family)
    return dict(zip(left, board_shares([kinds[family] for family in left]).values(), strict=True))


@pytest.mark.parametrize("shares", [_even, _of_board])
def test_families_are_the_closed_test_of_weighted_bonferroni(shares: Shares) -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        families = [(rng.uniform(0, 1, size) ** 3).round(4).tolist() for size in rng.integers(0, 4, 3)]
        ours, closed = holm_families(families, shares), _closed(families, shares)
        for one, other in zip(ours, closed, strict=True):
            assert one == pytest.approx(other)


def test_one_family_is_holm() -> None:
    assert holm_families([[], [0.01, 0.04, 0.03]], _of_board)[1] == holm([0.01, 0.04, 0.03])


def test_a_family_that_is_done_passes_its_share_on() -> None:
    """0.8 and 0.2: .01/.8 = .0125 first; then the other has everything: .02 · 2 = .04, and .03."""
    shares = {(0, 1): {0: 0.8, 1: 0.2}, (1,): {1: 1.0}, (0,): {0: 1.0}}
    found = holm_families([[0.01], [0.02, 0.03]], lambda left: shares[tuple(left)])
    assert found[0] == [pytest.approx(0.0125)] and found[1] == pytest.approx([0.04, 0.04])
    stuck = holm_families([[0.5], [0.02, 0.03]], lambda left: shares[tuple(left)])
    assert stuck[1] == pytest.approx([0.2, 0.2]) and stuck[0] == [0.5]  # the others are done then
