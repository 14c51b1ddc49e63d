"""Standstill: the steps by hand, and a quiet camera that is not one."""

from __future__ import annotations

import pytest

from rushes.instruments.clip.frames.spans import Span, frame_spans, longest_of, still_spans, stretches
from rushes.instruments.clip.metrics.stillness import (
    LONGEST_STILL_MS,
    longest_freeze_ms,
    longest_still_ms,
    repeated_frame_ratio,
)


def test_the_longest_of_two_freezes() -> None:
    diffs = [5.0] * 8 + [0.0] * 8 + [5.0] * 8 + [0.039] * 12 + [5.0] * 8
    found = longest_freeze_ms(diffs, [40.0 * t for t in range(45)])
    assert (found.value, found.note, found.count) == (480.0, "1.0–1.4 s", 44)


def test_an_encoder_that_refines_a_held_picture_does_not_end_the_freeze() -> None:
    """24 steps are held; around the first, half of the window still moves."""
    held = [0.005, 0.01, 0.007, 0.3] * 6
    assert longest_freeze_ms([5.0] * 10 + held, [40.0 * t for t in range(35)]).value == 23 * 40.0


def test_every_frame_twice_is_no_freeze() -> None:
    assert longest_freeze_ms([0.0, 5.0] * 20, [40.0 * t for t in range(41)]).value == 40.0


def test_on_the_limit_a_step_is_not_frozen() -> None:
    found = longest_freeze_ms([0.04, 0.04], [0.0, 1000.0, 2000.0])
    assert (found.value, found.note) == (0.0, "")


def test_a_quiet_static_camera_is_not_frozen() -> None:
    """Every step of it counts as frozen in freeze_frame_ratio (< 1.0)."""
    quiet = [0.3, 0.5, 0.2, 0.4] * 20
    assert longest_freeze_ms(quiet, [40.0 * n for n in range(81)]).value == 0.0
    assert longest_still_ms(quiet, [40.0 * n for n in range(81)]).value == 0.0


def test_still_against_its_own_motion() -> None:
    """Median of the moving steps is 8, so below 0.8 is still: two steps that no fixed limit would call frozen."""
    found = longest_still_ms([8.0, 9.0, 0.5, 0.7, 8.0, 7.0, 8.0], [100.0 * n for n in range(8)])
    assert (found.value, found.note) == (200.0, "0.2–0.4 s")


def test_a_clip_without_any_motion_is_still_throughout() -> None:
    assert longest_still_ms([0.0, 0.0], [0.0, 500.0, 1000.0]).value == 1000.0


def test_too_short() -> None:
    assert longest_freeze_ms([], [0.0]).value is None
    assert longest_still_ms([], []).value is None
    assert repeated_frame_ratio([1.0, 0.0]).value is None


@pytest.mark.parametrize(
    ("diffs", "value"),
    [
        ([0.0, 4.0] * 5, 0.5),
        # 24 shown as 30: every fifth step repeats.
        ([4.0, 4.0, 4.0, 4.0, 0.0] * 4, 0.2),
        # Quiet all through: nothing stands out, so nothing repeats.
        ([0.01] * 10, 0.0),
        ([0.0] * 10, 0.0),
        # Three tenths of the steps around are on the limit and do not count; nor does half a level.
        ([1.0, 0.3, 1.0], 0.0),
        ([5.0, 0.5, 5.0], 0.0),
        # Light that changes every second frame over a picture that moves: steps of 1 repeat nothing.
        ([21.0, 1.0] * 8, 0.0),
    ],
)
def test_repeated_frames(diffs: list[float], value: float) -> None:
    assert repeated_frame_ratio(diffs).value == value


def test_times_that_run_backwards_give_no_negative_length() -> None:
    assert longest_freeze_ms([0.0, 0.0], [100.0, 50.0, 0.0]).value == 0.0


def test_spans() -> None:
    assert list(stretches([])) == [] and list(stretches([True])) == [(0, 0)]
    found = longest_of(LONGEST_STILL_MS, iter([Span(0, 10), Span(20, 30), Span(40, 45)]), 3)
    assert found.span == Span(0, 10) and longest_of(LONGEST_STILL_MS, iter([]), 3).value == 0
    assert list(still_spans([True, False, True], [0.0, 1.0, 2.0, 3.0])) == [Span(0.0, 1.0), Span(2.0, 3.0)]
    assert list(frame_spans([True, False, True], [0.0, 1.0, 2.0])) == [Span(0.0, 1.0), Span(2.0, 2.0)]
