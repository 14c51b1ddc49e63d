"""Intervals against other implementations, and where there is none."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binomtest, norm
from statsmodels.stats.proportion import proportion_confint

from rushes.core.errors import InputError
from rushes.stats.intervals import exact_interval, normal_interval, wilson


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 3), (7, 7), (50, 101), (999, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilson_matches_statsmodels(successes: int, trials: int, level: float) -> None:
    expected = proportion_confint(successes, trials, alpha=1 - level, method="wilson")
    found = wilson(successes, trials, level=level)
    assert (found.low, found.high) == (pytest.approx(expected[0], abs=1e-12), pytest.approx(expected[1]))
    assert (found.level, found.method) == (level, "wilson")


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_bad_confidence_is_refused(level: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        wilson(1, 2, level=level)


def test_a_flag_that_changed_in_three_of_ten_clips() -> None:
    # All three rose: π from 0.025^(1/3) = 0.292402 to 1, so 0.3 · (2π − 1).
    found = exact_interval(3, 0, 10)
    assert (found.low, found.high) == (pytest.approx(0.3 * (2 * 0.025 ** (1 / 3) - 1)), pytest.approx(0.3))
    limits = binomtest(1, 4).proportion_ci(0.95, method="exact")
    assert exact_interval(1, 3, 8).low == pytest.approx(4 / 8 * (2 * limits.low - 1))


def test_a_normal_interval() -> None:
    found = normal_interval(10.0, 4.0, "m")
    assert (found.low, found.high) == pytest.approx((10 - 2 * norm.ppf(0.975), 10 + 2 * norm.ppf(0.975)))
    assert math.isclose(found.high, 13.919927969080108, rel_tol=0, abs_tol=1e-12)
