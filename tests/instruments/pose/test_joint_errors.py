"""MPJPE's sums: what is found, what is missing, and that adding pieces is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushes.instruments.pose import mpjpe
from rushes.instruments.pose.scores.joint_errors import ErrorSum, error_sum


def test_found_and_missing() -> None:
    # Four count: 1, 3, NaN, inf. The mean of all is not a number; of the two found it is 2.
    found = error_sum(np.array([1.0, 3.0, np.nan, np.inf, 50.0]), np.array([True, True, True, True, False]))
    assert (found.found, found.missing, found.count) == (2, 2, 4)
    assert math.isnan(found.mean()) and found.found_mean() == 2.0


def test_nothing_is_zero() -> None:
    assert ErrorSum().mean() == ErrorSum().found_mean() == 0.0


def test_adding_is_exact_in_any_grouping() -> None:
    a, b, c = (error_sum(np.array([x]), np.array([True])) for x in (0.1, 1e17, 0.3))
    assert (a + b) + c == a + (b + c) == (c + b) + a


def test_a_sum_beyond_fp64_still_has_its_mean() -> None:
    huge = error_sum(np.array([1.5e308, 1.5e308]), np.array([True, True]))
    assert (huge.mean(), huge.missing) == (1.5e308, 0)


def test_an_infinite_prediction_is_not_a_number() -> None:
    assert math.isnan(mpjpe([[np.inf, 0]], [[0, 0]], [1]))
    assert mpjpe([[np.inf, 0], [3, 4]], [[0, 0], [0, 0]], [0, 1]) == pytest.approx(5.0)
