"""Precision, recall, density and coverage: small cases by hand, and values of published code."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances import formulas
from rushes.instruments.distribution.distances.formulas import coverage, density, precision, recall

# On a line, k = 1. Real 0, 1, 3 have radii 1, 1, 2 (1 to 0, 0 to 1, 3 to 1). Generated 2, 10 have radii 8, 8.
REAL, GEN = [[0.0], [1.0], [3.0]], [[2.0], [10.0]]


def test_by_hand() -> None:
    # 2 is 1 from 1 (ball 1, on the edge) and 1 from 3 (inside 2); 10 is in no ball: 1 of 2.
    assert precision(GEN, REAL, k=1) == 0.5
    # all of 0, 1, 3 are within 8 of 2
    assert recall(GEN, REAL, k=1) == 1.0
    # open balls: (3, 2) alone, the edge does not count; 1 / (1 · 2)
    assert density(GEN, REAL, k=1) == 0.5
    # of the real ones, 3 alone has a generated point closer than its radius
    assert coverage(GEN, REAL, k=1) == pytest.approx(1 / 3)


def test_the_edge_is_inside_for_precision_and_outside_for_density() -> None:
    # 5 is exactly 2 from 3, whose radius is 2, and further from the others.
    assert precision([[5.0], [9.0]], REAL, k=1) == 0.5 and density([[5.0], [9.0]], REAL, k=1) == 0.0


def test_a_copy_of_the_real_set_is_perfect() -> None:
    rows = np.random.RandomState(0).normal(size=(40, 6))
    # every ball of k = 5 holds its own point and 4 neighbours, the fifth being on the edge: exactly 1
    assert [f(rows[::-1], rows) for f in (precision, recall, density, coverage)] == [1.0, 1.0, 1.0, 1.0]


def test_sets_that_never_meet_have_0() -> None:
    rows = np.random.RandomState(0).normal(size=(40, 6))
    assert [f(rows + 99, rows) for f in (precision, recall, density, coverage)] == [0.0, 0.0, 0.0, 0.0]


def test_agrees_with_the_authors_package() -> None:
    # prdc 0.2 and scikit-learn 1.9 on these features: k = 3: precision 0.96, recall 0.6; k = 5: density 1.184,
    # coverage 0.8
    draw = np.random.RandomState(7)
    real, gen = draw.normal(size=(60, 5)), draw.normal(0.5, 0.8, size=(50, 5))
    assert (precision(gen, real), recall(gen, real)) == (pytest.approx(0.96), pytest.approx(0.6))
    assert (density(gen, real), coverage(gen, real)) == (pytest.approx(1.184), pytest.approx(0.8))
    # the same at k = 5 and k = 3
    assert (precision(gen, real, k=5), recall(gen, real, k=5)) == (pytest.approx(0.98), pytest.approx(44 / 60))
    assert (density(gen, real, k=3), coverage(gen, real, k=3)) == (pytest.approx(173 / 150), pytest.approx(0.7))


def test_what_each_sees() -> None:
    # A model that repeats a few good clips is precise and covers little; one that spreads too far is the reverse.
    draw = np.random.RandomState(1)
    real = draw.normal(size=(200, 4))
    narrow, wide = draw.normal(0, 0.2, size=(200, 4)), draw.normal(0, 2.0, size=(200, 4))
    assert precision(narrow, real) > precision(wide, real) and density(narrow, real) > 1 > density(wide, real)
    assert recall(narrow, real) < recall(wide, real) and coverage(narrow, real) < coverage(real[::-1] + 0.01, real)


def test_blocks_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.RandomState(2)
    real, gen = draw.normal(size=(33, 4)), draw.normal(size=(21, 4))
    whole = [f(gen, real) for f in (precision, recall, density, coverage)]
    monkeypatch.setattr(formulas, "_BLOCK", 7)
    assert [f(gen, real) for f in (precision, recall, density, coverage)] == whole


def test_bad_features_are_refused() -> None:
    with pytest.raises(InputError, match="ground-truth set: the 3 nearest neighbours of a clip need more than 3 clips"):
        precision(np.zeros((9, 1)), REAL)
    with pytest.raises(InputError, match="generated set: the 3 nearest neighbours"):
        recall(REAL, np.zeros((9, 1)))
    with pytest.raises(InputError, match="one width; got 1 and 2"):
        coverage([[1.0]] * 9, [[1.0, 2.0]] * 9)
    with pytest.raises(InputError, match=r"features of up to 1e\+160 are too large"):
        density(np.full((9, 2), 1e160), np.zeros((9, 2)))
    with pytest.raises(InputError, match="expected k of 1 or more neighbours; got 0"):
        density(GEN, REAL, k=0)


def test_squared_distances_are_scipys_to_the_last_bit() -> None:
    distance = pytest.importorskip("scipy.spatial.distance")
    draw = np.random.default_rng(4)
    for points, others, width in ((1, 1, 1), (5, 3, 2), (40, 31, 7), (33, 32, 64), (20, 65, 400)):
        one, other = draw.normal(size=(points, width)), draw.normal(size=(others, width)) * 1e3
        found = formulas.squared_distances(one, other)
        assert found.tobytes() == distance.cdist(one, other, "sqeuclidean").tobytes()
        assert formulas.squared_distances(other[::-1], one).tobytes() == np.ascontiguousarray(found.T[::-1]).tobytes()
