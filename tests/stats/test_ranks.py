"""Ranges of ranks by hand, and against every order that is possible."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from rushes.stats.families import possible_ranks


def test_by_hand() -> None:
    sure = [("a", "c"), ("a", "d"), ("b", "d")]
    # a: none better, two worse → 1 to 2; b: 1 to 3; c: one better → 2 to 4; d: two better → 3 to 4
    assert possible_ranks("abcd", sure) == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}
    assert possible_ranks("ab", []) == {"a": (1, 2), "b": (1, 2)}
    assert possible_ranks("a", []) == {"a": (1, 1)}
    assert possible_ranks("", []) == {}


def test_holds_every_order_that_agrees_with_what_is_sure() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        true = rng.permutation(5)
        sure = {(i, j) for i in range(5) for j in range(5) if true[i] < true[j] and rng.random() < 0.5}
        closed = {(i, j) for i, j in sure} | {(i, k) for i, j in sure for jj, k in sure if j == jj}
        closed |= {(i, k) for i, j in closed for jj, k in closed if j == jj}
        ranges = possible_ranks([str(i) for i in range(5)], {(str(i), str(j)) for i, j in closed})
        orders = [o for o in permutations(range(5)) if all(o.index(i) < o.index(j) for i, j in closed)]
        for i in range(5):
            held = {order.index(i) + 1 for order in orders}
            assert ranges[str(i)] == (min(held), max(held))
