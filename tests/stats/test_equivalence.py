"""A mean difference against a margin: hand-computed, against scipy, and counted over simulated pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from rushes.core import Interval
from rushes.stats.equivalence import (
    ENDS,
    PREDICTION,
    SIGN,
    flag_test,
    interval_test,
    paired_test,
    prediction_test,
)

DIFFERENCES = [-1.0, -3.0, -2.0, -2.0]


def test_by_hand() -> None:
    # mean −2, s² = (1 + 1 + 0 + 0) / 3, s/√4 = √(2/3)/2 = 0.408248; t(3, .95) = 2.353363; half = 0.960757
    found = paired_test(DIFFERENCES, margin=1.0, alpha=0.05)
    assert found.difference == -2 and found.count == 4
    assert found.interval is not None and found.interval.level == 0.9
    assert (found.interval.low, found.interval.high) == pytest.approx((-2.960757, -1.039243), abs=1e-6)
    # t = (−2 + 1) / 0.408248 = −√6; at 3 degrees of freedom p = 1/2 − (√2/3 + atan √2)/π = 0.045861
    assert found.below == pytest.approx(0.0458606, abs=1e-7)
    assert found.not_below == pytest.approx(1 - found.below)
    assert found.above == pytest.approx(stats.t.sf(-3 / 0.40824829, 3))


@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0, 5.0])
def test_the_two_one_sided_tests_are_those_of_statsmodels(margin: float) -> None:
    differences = np.random.default_rng(4).normal(0.2, 1.0, 12)
    found = paired_test(list(differences), margin=margin, alpha=0.05)
    p, lower, upper = DescrStatsW(differences).ttost_mean(-margin, margin)
    assert (found.same, found.not_below, found.not_above) == pytest.approx((p, lower[1], upper[1]))


def test_the_interval_inside_the_margin_and_the_tests_say_the_same() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        found = paired_test(list(rng.normal(rng.normal(), 1.0, 6)), margin=1.0, alpha=0.05)
        assert found.interval is not None
        inside = -1 < found.interval.low and found.interval.high < 1
        assert inside == (found.same < 0.05)
        assert (found.interval.high < -1) == (found.below < 0.05)


def test_the_same_change_on_every_clip_is_a_sign_test() -> None:
    found = paired_test([-2.0] * 5, margin=1.0, alpha=0.05)
    assert (found.method, found.below, found.not_below, found.not_above) == (SIGN, 0.5**5, 1.0, 0.5**5)
    assert found.interval is None and not found.unchanged
    still = paired_test([0.0] * 3, margin=0.0, alpha=0.05)
    assert still.unchanged and (still.above, still.below) == (1.0, 1.0)


def test_one_number_against_repeats() -> None:
    # x̄ = 10, s = 1, m = 3: standard error √(4/3) = 1.154701, t(2, .95) = 2.919986: half = 3.371709
    found = prediction_test(14.0, [9.0, 10.0, 11.0], margin=0.5, alpha=0.05)
    assert found.interval is not None and found.method == PREDICTION
    assert (found.difference, found.interval.low) == pytest.approx((4.0, 0.628291), abs=1e-6)
    assert found.above == pytest.approx(stats.t.sf(3.5 / 1.1547005, 2))
    certain = prediction_test(12.0, [10.0, 10.0], margin=1.0, alpha=0.05)
    assert (certain.above, certain.not_above, certain.interval) == (0.0, 1.0, None)


def test_two_numbers_by_their_own_intervals() -> None:
    def around(value: float) -> Interval:
        return Interval(low=value - 5, high=value + 5, level=0.95, method="jackknife")

    found = interval_test(around(100), around(120), 20.0, margin=8.0)
    assert found.interval is not None and (found.interval.low, found.interval.high) == (10.0, 30.0)
    assert (found.method, found.interval.level, found.above, found.not_above) == (ENDS, 0.9, 0.05, 1.0)
    assert interval_test(around(100), around(101), 1.0, margin=12.0).same == 0.05


def test_flags() -> None:
    # 6 of 8 fell and none rose: sign test 2^−6; margin .25: P(Bin(8, .25) ≥ 6) = 0.00422668
    found = flag_test(0, 6, 8, margin=0.25)
    assert found.below == pytest.approx(max(0.5**6, 0.00422668)) and found.difference == -0.75
    # not lost more than .25 with 1 of 40 fallen: P(Bin(40, .25) ≤ 1) = .75^40 + 40 · .25 · .75^39
    assert flag_test(0, 1, 40, margin=0.25).not_below == pytest.approx(0.75**40 + 10 * 0.75**39)
    assert flag_test(0, 0, 4, margin=0.1).unchanged


def test_error_rates_at_the_margin_are_the_ones_asked_for() -> None:
    """2,000 pairs of 8 clips with a true loss of exactly the margin: each claim is false 5 % of the time."""
    draws = np.random.default_rng(17).normal(-1.0, 1.4, (2000, 8))
    tests = [paired_test(list(row), margin=1.0, alpha=0.05) for row in draws]
    beyond = sum(test.below <= 0.05 for test in tests)
    same = sum(test.same <= 0.05 for test in tests)
    assert 74 <= beyond <= 126  # 100 ± 2.7 standard errors
    assert same <= 126
