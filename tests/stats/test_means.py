"""The mean over clips, by kind of value."""

from __future__ import annotations

import math

import pytest
from scipy.stats import t

from rushes.core import Why
from rushes.stats.means import mean_change, mean_over_clips, share


def test_numbers_by_hand() -> None:
    # 1, 2, 6: mean 3, s² = (4 + 1 + 9) / 2 = 7, t(2) at 0.975
    found, half = mean_over_clips([1.0, None, 2, 6.0]), t.ppf(0.975, 2) * math.sqrt(7 / 3)
    assert (found.value, found.count, found.why) == (3.0, 3, None) and found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((3 - half, 3 + half))
    assert found.interval.method == "student-t"
    wider = mean_over_clips([1.0, 2, 6.0], level=0.99).interval
    assert wider is not None and wider.low < found.interval.low and wider.level == 0.99


def test_flags_are_a_share() -> None:
    found = mean_over_clips([True, False, True, True])
    assert found == share(3, 4) and found.interval is not None and found.interval.method == "wilson"
    every = mean_over_clips([True] * 4).interval
    assert every is not None and 0 < every.low < 1 and every.high == 1.0  # four of four is no certainty
    assert mean_over_clips([True, 0.5]).interval is not None  # not all flags: numbers
    assert mean_over_clips([True, 0.5]).interval.method == "student-t"  # type: ignore[union-attr]


def test_no_interval_and_why() -> None:
    assert mean_over_clips([]).why is mean_over_clips([None]).why is Why.NO_DATA
    assert (mean_over_clips([2.0]).value, mean_over_clips([2.0]).why) == (2.0, Why.NEEDS_TWO_CLIPS)
    assert mean_over_clips([2.0, 2.0]).why is Why.EQUAL_VALUES
    assert share(0, 0).why is Why.NO_TRIALS


def test_changes() -> None:
    assert mean_change([0.5, 0.5]).why is Why.EQUAL_DIFFERENCES
    assert mean_change([0.0, 0.0], flags=True).why is Why.NO_CHANGE
    found = mean_change([1.0, 1.0, 0.0, -1.0], flags=True)
    assert (found.value, found.count) == (0.25, 4) and found.interval is not None
    assert found.interval.method == "clopper-pearson-of-changed"
    assert mean_change([], flags=True).why is Why.NO_DATA
