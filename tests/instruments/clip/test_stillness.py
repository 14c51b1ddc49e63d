"""Standstill: the steps by hand, and a quiet camera that is not one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.clips import noise, write_luma

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.frames.spans import Span, frame_spans, longest_of, still_spans, stretches
from rushes.instruments.clip.metrics.stillness import (
    LONGEST_STILL_MS,
    longest_freeze_ms,
    longest_still_ms,
    on_screen,
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


def test_a_frame_held_at_a_variable_rate_is_the_standstill_of_a_constant_rate() -> None:
    """Ten steps of 5 at 40 ms, but frame 4 stays for 3040 ms: at a constant rate 75 repeats of it, so 75 · 40 ms."""
    times = [40.0 * t + 3000.0 * (t > 4) for t in range(11)]
    held = longest_freeze_ms([5.0] * 10, times)
    assert (held.value, held.note, held.count) == (3000.0, "0.2–3.2 s", 10)
    constant = longest_freeze_ms([5.0] * 4 + [0.0] * 75 + [5.0] * 6, [40.0 * t for t in range(86)])
    assert (held.value, held.note) == (constant.value, constant.note)
    assert longest_still_ms([5.0] * 10, times).value == 3000.0


def test_a_picture_held_in_few_frames_is_one_standstill() -> None:
    """Three frames a second apart of one picture, as an encoder leaves them that drops repeats: 0.16 s to 3.16 s."""
    times = [0.0, 40.0, 80.0, 120.0, 160.0, 1160.0, 2160.0, 3160.0, 3200.0, 3240.0, 3280.0, 3320.0]
    diffs = [5.0] * 4 + [0.01, 0.3, 0.01] + [5.0] * 4
    assert longest_freeze_ms(diffs, times).value == 3000.0


def test_the_last_frame_is_shown_until_the_end() -> None:
    """Ten frames at 40 ms, the last for 2040 ms: 50 repeats of it."""
    moving, times = [5.0] * 9, [40.0 * t for t in range(10)]
    assert longest_freeze_ms(moving, times, end_ms=360.0 + 2040.0).value == 2000.0
    assert longest_freeze_ms(moving, times, end_ms=400.0).value == 0.0, "as long as every other"


@pytest.mark.parametrize(
    "times",
    [
        # ms of 30 frames a second, rounded as Matroska does; 24 shown as 30; one dropped frame; times that run back.
        [round(1000 * t / 30) for t in range(30)],
        [t * 33.0 + 17.0 * (t // 2) for t in range(30)],
        [40.0 * (t + (t > 9)) for t in range(30)],
        [40.0 * t for t in range(15)] + [40.0 * t for t in range(15)],
    ],
    ids=["rounded", "pulldown", "one-dropped", "backwards"],
)
def test_an_uneven_rate_is_no_standstill(times: list[float]) -> None:
    assert longest_freeze_ms([5.0] * 29, times).value == 0.0


def test_a_hold_of_a_year_costs_no_memory() -> None:
    steps, edges = on_screen([5.0, 5.0, 5.0], [0.0, 1.0, 2.0, 3e10])
    assert len(steps) == 10 and len(edges) == 11
    assert longest_freeze_ms([5.0] * 3, [0.0, 1.0, 2.0, 3e10]).value == pytest.approx(3e10 - 3)


def test_frames_that_share_one_time_have_no_value() -> None:
    found = longest_freeze_ms([5.0] * 49, [0.0] * 50)
    assert found.value is None and "same time" in found.note
    assert longest_still_ms([0.0] * 49, [7.0] * 50).value is None


def test_clips_of_a_variable_rate(tmp_path: Path) -> None:
    """Made clips: 20 frames of noise at 25 a second with the tenth held for 3040 ms; then all 20 at one time."""
    every_ms = Fraction(1, 1000)
    held = [40 * t + 3000 * (t > 9) for t in range(20)]
    write_luma(tmp_path / "held.mkv", noise(20), "gray", times=held, time_base=every_ms)
    write_luma(tmp_path / "even.mkv", noise(20), "gray", times=[40 * t for t in range(20)], time_base=every_ms)
    write_luma(tmp_path / "once.mkv", noise(20), "gray", times=[0] * 20, time_base=every_ms)
    found, even, once = (evaluate_clip(tmp_path / f"{name}.mkv") for name in ("held", "even", "once"))
    assert found["longest_freeze_ms"].value == found["longest_still_ms"].value == 3000.0
    assert found["longest_freeze_ms"].signature.endswith("|v:2")
    assert found.badge == "flagged" and "frozen 0.4–3.4 s (longest_freeze_ms=3000 > 450)" in found.reasons
    assert even["longest_freeze_ms"].value == 0.0 and "frozen" not in " ".join(even.reasons)
    assert once.badge == "flagged" and "19 of 20 frames never shown: the next frame has no later time" in once.reasons
    assert once["longest_freeze_ms"].value is None and "longest_freeze_ms" in once.badge_detail.not_judged
