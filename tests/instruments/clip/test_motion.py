"""Freezes, spikes and cuts on difference series that can be counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushes.instruments.clip.metrics.motion import (
    diff_spikes,
    frame_diff_spike_count,
    freeze_frame_ratio,
    scene_cut_count,
    scene_cuts,
    scene_scores,
)

# Mean differences of 8-bit planes: whole numbers over a number of pixels, never 1e-281, whose square is 0.
diffs = st.lists(st.integers(0, 255_000).map(lambda total: total / 1000), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ([0.0, 0.0], 1.0),  # all frozen
        ([5.0, 9.0], 0.0),  # none
        ([0.5, 5.0], 0.5),  # half and half
        ([1.0, 0.999999], 0.5),  # exactly eps is not frozen
    ],
)
def test_freeze_frame_ratio(series: list[float], expected: float) -> None:
    result = freeze_frame_ratio(series)
    assert (result.value, result.count) == (expected, 2)
    assert result.signature == "freeze_frame_ratio|eps:1.0|plane:luma|range:full|v:1"


def test_the_epsilon_is_in_the_signature() -> None:
    assert freeze_frame_ratio([3.0], epsilon=4.0).value == 1.0
    assert "eps:4.0" in freeze_frame_ratio([3.0], epsilon=4.0).signature


@pytest.mark.parametrize("metric", [freeze_frame_ratio, frame_diff_spike_count, scene_cut_count])
def test_one_frame_has_no_steps(metric) -> None:  # type: ignore[no-untyped-def]
    assert metric([]).value is None
    assert metric([]).note == "needs at least two frames"


def test_a_spike_is_past_three_standard_deviations() -> None:
    # 15 ones and a 17: mean 2, variance (15·1 + 15²)/16 = 15, std 3.873, bound 13.62 < 17
    assert diff_spikes([1.0] * 15 + [17.0]) == [16]
    assert frame_diff_spike_count([1.0] * 15 + [17.0]).value == 1


def test_on_the_bound_is_no_spike() -> None:
    # 9 zeros and a 10: mean 1, variance (9·1 + 81)/10 = 9, std 3, bound exactly 10
    assert diff_spikes([0.0] * 9 + [10.0]) == []


def test_equal_steps_have_no_spike() -> None:
    assert frame_diff_spike_count([0.1] * 30).value == 0


def test_scene_score_is_the_smaller_of_step_and_change_of_step() -> None:
    # m = 2, 40, 40, 3: min(2, 2), min(40, 38), min(40, 0), min(3, 37)
    assert scene_scores([2.0, 40.0, 40.0, 3.0]) == [2.0, 38.0, 0.0, 3.0]
    assert scene_cuts([2.0, 40.0, 40.0, 3.0]) == [2]


def test_a_score_on_the_threshold_is_a_cut() -> None:
    assert scene_cut_count([0.0, 10.0]).value == 1
    assert scene_cut_count([0.0, 9.999]).value == 0


def test_fast_but_even_motion_is_one_start_and_no_cut_after() -> None:
    assert scene_cuts([30.0] * 20) == [1]


@given(diffs, st.floats(0.01, 10), st.floats(0.01, 10))
def test_a_larger_epsilon_freezes_no_fewer(series: list[float], one: float, other: float) -> None:
    low, high = sorted((one, other))
    first, second = freeze_frame_ratio(series, epsilon=low).value, freeze_frame_ratio(series, epsilon=high).value
    assert first is not None and second is not None and first <= second


@given(diffs)
def test_fewer_than_a_tenth_can_be_spikes(series: list[float]) -> None:
    # Chebyshev, one-sided: at most 1 / (1 + 3²) of the steps lie more than 3 standard deviations above the mean
    assert len(diff_spikes(series)) <= len(series) / 10
