"""The kernel distance against a published value and hand arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances import formulas
from rushes.instruments.distribution.distances.formulas import polynomial_mmd


def test_the_published_biased_value() -> None:
    one = np.arange(1, 10).reshape(3, 3)
    other = [[7, 6, 5], [4, 3, 2], [1, 1, 8], [0, 2, 5]]
    value = polynomial_mmd(one, other, degree=2, gamma=1 / 3, coef0=0.0, unbiased=False)
    assert value == pytest.approx(270.7222, abs=5e-5)


def test_unbiased_by_hand() -> None:
    # k(a, b) = a·b + 1 on x = {0, 2}, y = {1, 3}: pairs of x: k(0,2) = 1 both ways, mean 1; of y: k(1,3) = 4, mean 4;
    # across: 1, 1, 3, 7, mean 3. MMD² = 1 + 4 − 6 = −1: below 0, as an unbiased estimate may be.
    value = polynomial_mmd([[0.0], [2.0]], [[1.0], [3.0]], degree=1, gamma=1.0, coef0=1.0)
    assert value == pytest.approx(-1.0, abs=1e-12)


def test_biased_counts_the_diagonals() -> None:
    # the same kernel and points: x: (1 + 1 + 1 + 5)/4 = 2; y: (2 + 4 + 4 + 10)/4 = 5; 2 + 5 − 6 = 1 = (mean gap)².
    value = polynomial_mmd([[0.0], [2.0]], [[1.0], [3.0]], degree=1, gamma=1.0, coef0=1.0, unbiased=False)
    assert value == pytest.approx(1.0, abs=1e-12)


def test_is_centred_on_0_for_equal_distributions_and_grows_with_a_shift() -> None:
    draw = np.random.RandomState(0)
    same = [polynomial_mmd(draw.normal(size=(20, 5)), draw.normal(size=(20, 5))) for _ in range(200)]
    assert abs(np.mean(same)) < 3 * np.std(same) / np.sqrt(200)
    x = draw.normal(size=(50, 5))
    assert polynomial_mmd(x, x + 1.0) > polynomial_mmd(x, x + 0.5) > max(0.0, float(np.std(same)))


def test_blocks_do_not_change_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.RandomState(1)
    x, y = draw.normal(size=(33, 4)), draw.normal(size=(21, 4))
    whole = polynomial_mmd(x, y)
    monkeypatch.setattr(formulas, "_BLOCK", 10)
    assert polynomial_mmd(x, y) == pytest.approx(whole, rel=1e-12)


def test_one_clip_is_refused() -> None:
    with pytest.raises(InputError, match="at least two clips; got 1"):
        polynomial_mmd([[1.0]], [[1.0], [2.0]])


def test_unequal_widths_and_overflow_are_refused() -> None:
    rows = np.random.RandomState(0).normal(size=(6, 3))
    with pytest.raises(InputError, match="expected features of one width; got 3 and 2"):
        polynomial_mmd(rows, rows[:, :2])
    for scale in (1e160, 1e60):  # the product overflows; its third power does
        with pytest.raises(InputError, match="too large: a distance would overflow"):
            polynomial_mmd(rows * scale, rows)
