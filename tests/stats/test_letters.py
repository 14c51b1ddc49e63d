"""Letters against every maximal clique, found by trying every set of systems."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from rushes.stats.families import letter_display, maximal_sets

Pairs = list[tuple[int, int]]


def relations(count: int, seed: int) -> list[tuple[int, Pairs]]:
    """Random relations of every density, half of them intervals on a line as real ones mostly are."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(count):
        n = int(rng.integers(1, 9))
        pairs = list(combinations(range(n), 2))
        if k % 2:
            density = rng.random()
            apart = [pair for pair in pairs if rng.random() < density]
        else:
            at = rng.random(n) * 4
            apart = [(i, j) for i, j in pairs if abs(at[i] - at[j]) > 1]
        found.append((n, apart))
    return found


def cliques(n: int, apart: Pairs) -> set[frozenset[int]]:
    """By brute force over all 2ⁿ sets: those without a pair told apart that no other such set contains."""
    free = [
        frozenset(s)
        for size in range(1, n + 1)
        for s in combinations(range(n), size)
        if not any(pair in apart for pair in combinations(s, 2))
    ]
    return {s for s in free if not any(s < other for other in free)}


def sets_of(letters: dict[str, str]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for name, text in letters.items():
        for token in re.findall(r"[a-zA-Z]\d*", text):
            found.setdefault(token, set()).add(int(name))
    return found


def display(n: int, apart: Pairs) -> dict[str, str]:
    return letter_display([str(i) for i in range(n)], [(str(i), str(j)) for i, j in apart])


def test_insert_and_absorb_finds_every_maximal_set() -> None:
    for n, apart in relations(400, seed=4):
        found = maximal_sets(n, apart)
        assert found is not None and len(found) == len(set(found))
        assert set(found) == cliques(n, apart)


def test_letters_say_the_relation_with_maximal_sets_and_none_to_spare() -> None:
    for n, apart in relations(400, seed=9):
        sets = sets_of(display(n, apart))
        assert set().union(*sets.values()) == set(range(n)), "every system has a letter"
        for i, j in combinations(range(n), 2):
            assert any({i, j} <= s for s in sets.values()) == ((i, j) not in apart)
        assert {frozenset(s) for s in sets.values()} <= cliques(n, apart)
        for letter, s in sets.items():
            others = [other for key, other in sets.items() if key != letter]
            need = list(combinations(s, 2)) or [tuple(s)]
            assert not all(any(set(pair) <= other for other in others) for pair in need), "one could be spared"


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ([], "a a a a"),
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], "a b c d"),
        ([(0, 3)], "a ab ab b"),  # {0, 1, 2} and {1, 2, 3}
        ([(0, 2), (0, 3), (1, 3)], "a ab bc c"),
        ([(0, 1), (0, 2), (0, 3)], "a b b b"),
    ],
)
def test_by_hand(apart: Pairs, expected: str) -> None:
    assert list(display(4, apart).values()) == expected.split()


def test_a_spared_set() -> None:
    # Gramm et al.: three outer pairs already hold every pair of the inner triangle {0, 1, 2}
    # 0-1-3, 1-2-4, 0-2-5 are cliques, so {0, 1, 2} is one too and says nothing new
    together = {(0, 1), (1, 3), (0, 3), (1, 2), (2, 4), (1, 4), (0, 2), (2, 5), (0, 5)}
    apart = [pair for pair in combinations(range(6), 2) if pair not in together]
    assert len(cliques(6, apart)) == 4
    assert list(display(6, apart).values()) == ["ab", "ac", "bc", "a", "c", "b"]


def test_order_and_either_direction() -> None:
    assert letter_display(["x", "y"], [("y", "x")]) == {"x": "a", "y": "b"}
    assert letter_display([], []) == {}
    assert letter_display(["x"], []) == {"x": "a"}


def test_forty_systems_all_apart_and_too_many_sets() -> None:
    # all apart: 40 letters of their own
    assert len(set(display(40, list(combinations(range(40), 2))).values())) == 40
    # told apart within threes alone: 3^13 maximal sets; the pairs need far fewer
    apart = [pair for pair in combinations(range(39), 2) if pair[0] // 3 == pair[1] // 3]
    assert maximal_sets(39, apart) is None
    sets = sets_of(display(39, apart))
    for i, j in combinations(range(39), 2):
        assert any({i, j} <= s for s in sets.values()) == ((i, j) not in apart)
    assert all(len(s) == 13 for s in sets.values())
