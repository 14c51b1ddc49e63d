"""The assignment with the greatest sum, against every permutation and against SciPy, ties included."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from rushes.instruments.pose.pairing.assignment import best_columns


def drawn(draw: np.random.Generator, kind: int) -> np.ndarray:
    """Real numbers, few whole numbers, all alike, or whole numbers with places that cannot be used."""
    shape = tuple(draw.integers(1, 8, 2))
    tables = draw.random(shape), draw.integers(0, 3, shape).astype(float), np.ones(shape)
    return tables[kind] if kind < 3 else np.where(draw.random(shape) < 0.3, -np.inf, tables[1])


def test_no_permutation_adds_up_higher() -> None:
    draw = np.random.default_rng(1)
    for size in (1, 2, 3, 5):
        tables = draw.integers(0, 20, (40, size, size)).astype(float)
        for table, columns in zip(tables, best_columns(tables), strict=True):
            most = max(table[range(size), order].sum() for order in permutations(range(size)))
            assert sorted(columns.tolist()) == list(range(size)) and table[range(size), columns].sum() == most


def test_it_is_scipys_choice_among_ties_too() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw, refused = np.random.default_rng(2), 0
    for number in range(1200):
        table = drawn(draw, number % 4)
        wanted = np.full(len(table), -1)
        try:
            rows, columns = optimize.linear_sum_assignment(table, maximize=True)
        except ValueError:
            refused += 1
            with pytest.raises(ValueError, match="no assignment has a finite sum"):
                best_columns(table[None])
            continue
        wanted[rows] = columns
        assert best_columns(table[None])[0].tolist() == wanted.tolist()
    assert refused > 10
    large = draw.random((90, 120))
    assert best_columns(large[None])[0].tolist() == optimize.linear_sum_assignment(large, maximize=True)[1].tolist()


def test_all_alike_leaves_the_order_and_more_rows_than_columns_leave_some_out() -> None:
    assert best_columns(np.ones((2, 3, 3))).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert best_columns(np.ones((1, 2, 4))).tolist() == [[0, 1]]
    assert best_columns(np.array([[[1.0], [5.0], [2.0]]])).tolist() == [[-1, 0, -1]]
    assert best_columns(np.zeros((0, 2, 3))).shape == (0, 2)


def test_tables_do_not_move_one_another() -> None:
    draw = np.random.default_rng(3)
    tables = draw.integers(0, 3, (50, 4, 6)).astype(float)
    alone = [best_columns(table[None])[0].tolist() for table in tables]
    assert best_columns(tables).tolist() == alone
    assert best_columns(tables[::-1].transpose(0, 2, 1)).shape == (50, 6)
