"""BFGS on functions whose least point is known, and against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.stats.intervals import Floats
from rushes.stats.minimum import minimum


def valley(x: Floats) -> tuple[float, Floats]:
    """Rosenbrock 1960: least at (1, 1), at the end of a bent valley."""
    first, rest = 1.0 - x[0], x[1] - x[0] ** 2
    return float(first**2 + 100 * rest**2), np.array([-2 * first - 400 * x[0] * rest, 200 * rest])


def test_a_bent_valley_is_followed_to_its_end() -> None:
    np.testing.assert_allclose(minimum(valley, np.array([-1.2, 1.0])), [1.0, 1.0], rtol=1e-9)
    assert minimum(valley, np.array([1.0, 1.0])).tolist() == [1.0, 1.0]  # nothing to do


def test_a_bowl_has_the_answer_of_linear_algebra() -> None:
    draw = np.random.default_rng(3)
    root, towards = draw.normal(size=(6, 6)), draw.normal(size=6)
    bowl = root @ root.T + np.eye(6)
    found = minimum(lambda x: (float(x @ bowl @ x / 2 - towards @ x), bowl @ x - towards), np.zeros(6))
    np.testing.assert_allclose(found, np.linalg.solve(bowl, towards), rtol=1e-8)


def test_a_kink_ends_the_search_at_its_bottom() -> None:
    def kinked(x: Floats) -> tuple[float, Floats]:
        return float(np.abs(x[0] - 3.0) + x[1] ** 2), np.array([np.sign(x[0] - 3.0), 2.0 * x[1]])

    np.testing.assert_allclose(minimum(kinked, np.array([0.0, 5.0])), [3.0, 0.0], atol=1e-5)


def test_it_is_scipys_on_a_logistic_fit() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw = np.random.default_rng(5)
    rows, sign = draw.normal(size=(80, 4)), draw.choice([-1.0, 1.0], 80)

    def loss(x: Floats) -> tuple[float, Floats]:
        margin = sign * (rows @ x)
        pull = -sign / (1.0 + np.exp(margin))
        return float(np.logaddexp(0.0, -margin).sum() + x @ x / 2), rows.T @ pull + x

    theirs = optimize.minimize(loss, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose(minimum(loss, np.zeros(4)), theirs.x, atol=1e-9)
