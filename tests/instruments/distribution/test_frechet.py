"""The Fréchet distance against closed forms and an independent square root."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.formulas import frechet_single
from rushes.stats.frechet import frechet_distance


def axis_points(mean: list[float], spread: list[float]) -> np.ndarray:
    """Points μ ± sᵢ·eᵢ: mean μ, covariance diag(2sᵢ²/(n − 1)) with n = 2D."""
    steps = np.diag(np.array(spread))
    return np.array(mean) + np.concatenate([steps, -steps])


def test_diagonal_gaussians_have_a_closed_form() -> None:
    # D = 2, n = 4: Σ₁ = diag(2·1²/3, 2·2²/3) = diag(2/3, 8/3); Σ₂ = diag(2·3²/3, 2·1²/3) = diag(6, 2/3).
    # d² = |(0,0) − (3,4)|² + Σ(√σ₁ − √σ₂)² = 25 + (√(2/3) − √6)² + (√(8/3) − √(2/3))²
    one, other = axis_points([0, 0], [1, 2]), axis_points([3, 4], [3, 1])
    wanted = 25 + (np.sqrt(2 / 3) - np.sqrt(6)) ** 2 + (np.sqrt(8 / 3) - np.sqrt(2 / 3)) ** 2
    assert frechet_distance(one, other) == pytest.approx(wanted, rel=1e-12)


def test_the_1_over_n_covariance() -> None:
    # one dimension, {−1, 1} and {−3, 3}: with 1/N the variances are 1 and 9, so d² = (1 − 3)² = 4; with 1/(N−1), 8.
    one, other = [[-1.0], [1.0]], [[-3.0], [3.0]]
    assert frechet_distance(one, other, ddof=0) == pytest.approx(4.0, rel=1e-14)
    assert frechet_distance(one, other, ddof=1) == pytest.approx(8.0, rel=1e-14)


@pytest.mark.parametrize("count", [3, 40, 400])
def test_identical_sets_give_exactly_0_in_any_order(count: int) -> None:
    rows = np.random.RandomState(0).normal(5.0, 3.0, (count, 40))
    assert frechet_distance(rows, rows) == 0.0
    assert frechet_distance(rows, rows[::-1]) == 0.0


def test_a_pure_shift_counts_exactly() -> None:
    rows = np.random.RandomState(1).normal(size=(30, 8))
    assert frechet_distance(rows, rows + 2.0) == pytest.approx(8 * 4.0, rel=1e-12)


@pytest.mark.parametrize(("n", "m", "width"), [(300, 300, 20), (150, 400, 20), (64, 64, 60)])
def test_agrees_with_the_matrix_square_root(n: int, m: int, width: int) -> None:
    draw = np.random.RandomState(2)
    x, y = draw.normal(size=(n, width)), draw.normal(0.4, 1.7, size=(m, width))
    s1, s2 = np.cov(x.T), np.cov(y.T)
    independent = np.sum((x.mean(0) - y.mean(0)) ** 2) + np.trace(s1 + s2 - 2 * np.real(sqrtm(s1 @ s2)))
    assert frechet_distance(x, y) == pytest.approx(independent, rel=1e-6)


def test_fewer_clips_than_features_is_exact_too() -> None:
    # 4 points on axes of a 50-dimensional space, the rest of it empty: the closed form of the first test again.
    one, other = np.zeros((4, 50)), np.zeros((4, 50))
    one[:, :2], other[:, :2] = axis_points([0, 0], [1, 2]), axis_points([3, 4], [3, 1])
    wanted = 25 + (np.sqrt(2 / 3) - np.sqrt(6)) ** 2 + (np.sqrt(8 / 3) - np.sqrt(2 / 3)) ** 2
    assert frechet_distance(one, other) == pytest.approx(wanted, rel=1e-12)


def test_single_precision_is_near_but_not_the_same() -> None:
    draw = np.random.RandomState(3)
    x, y = draw.normal(size=(200, 30)), draw.normal(0.3, 1.2, size=(200, 30))
    exact = frechet_distance(x, y)
    assert frechet_single(x, y) == pytest.approx(exact, rel=1e-3)
    assert frechet_single(x, y) != exact


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]], "the first set: a covariance needs at least two clips; got 1"),
        ([[1.0], [2.0]], [[1.0, 2.0], [3.0, 4.0]], "expected features of one width; got 1 and 2"),
        ([[1.0], [2.0]], [[np.nan], [3.0]], "the second set: holds NaN or infinite features"),
        ([1.0, 2.0], [[1.0], [3.0]], "expected features as rows of a matrix"),
    ],
)
def test_bad_features_are_refused(one: list[object], other: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        frechet_distance(one, other)  # type: ignore[arg-type]


def test_features_that_overflow_are_refused() -> None:
    # squares of 1e160 are past the largest double (1.8e308): the value would be NaN
    rows = np.random.RandomState(0).normal(size=(6, 3))
    with pytest.raises(InputError, match=r"features of up to \d?e\+16\d are too large: a distance would overflow"):
        frechet_distance(rows * 1e160, rows)
    with pytest.raises(InputError, match="too large: a distance would overflow"):
        frechet_distance(np.full((6, 3), 1e160), rows)  # no spread: the means alone overflow
    with pytest.raises(InputError, match="too large: a distance would overflow"):
        frechet_single(rows * 1e20, rows * 1e20)  # float32 ends at 3.4e38
    assert frechet_distance(rows * 1e150, rows * 1e150) == 0.0
    with pytest.raises(InputError, match="one width; got 3 and 2"):
        frechet_single(rows, rows[:, :2])
