"""Standstill: by construction, by every encoder, and a quiet camera that is not one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.clips import noise, write_luma
from tests.instruments.clip.pictures.scenes import ENCODERS, coded, scene, shown

from rushes.instruments.clip.evaluate import evaluate_clip
from rushes.instruments.clip.frames.spans import Span, frame_spans, longest_of, still_spans, stretches
from rushes.instruments.clip.metrics.stillness import LONGEST_STILL_MS, longest_freeze_ms, longest_still_ms
from rushes.instruments.clip.pictures.shown import Shown


def timed(pictures: Shown, times: list[float]) -> Shown:
    return Shown(pictures.values, np.array(times), pictures.changes)


def test_the_longest_of_two_freezes() -> None:
    """Frame 20 is held for 8 more frames, frame 60 for 12: 12 steps of 40 ms."""
    order = [*range(21), *[20] * 8, *range(21, 61), *[60] * 12, *range(61, 90)]
    found = longest_freeze_ms(shown(order))
    assert (found.value, found.note, found.count) == (480.0, "2.7–3.2 s", len(order) - 1)


def test_coding_noise_and_refinement_do_not_end_a_freeze() -> None:
    assert longest_freeze_ms(shown([*range(40), *[39] * 20], noise=0.05)).value == 20 * 40.0


@pytest.mark.parametrize("times", [2, 3, 4])
def test_held_pictures_are_no_freeze(times: int) -> None:
    """8 pictures a second in 24, 6 in 24: each is held for a while, and the clip moves."""
    assert longest_freeze_ms(shown([n // times for n in range(96)], fps=24)).value < 200


def test_film_in_a_faster_stream_is_no_freeze() -> None:
    order = [n for n in range(60) for _ in range(2 + n % 2)]
    assert longest_freeze_ms(shown(order, fps=60)).value < 60


def test_a_quiet_static_camera_is_not_frozen() -> None:
    assert longest_freeze_ms(shown(range(80), pictures=scene(80, speed=0.02))).value == 0.0
    quiet = [0.3, 0.5, 0.2, 0.4] * 20
    assert longest_still_ms(quiet, [40.0 * n for n in range(81)]).value == 0.0


def test_a_clip_of_one_picture_is_frozen_throughout() -> None:
    assert longest_freeze_ms(shown([0] * 50)).value == 49 * 40.0


def test_black_is_not_frozen() -> None:
    dark = np.concatenate([scene(40), np.zeros((20, 16, 16), np.float32)])
    assert longest_freeze_ms(shown(range(60), pictures=dark)).value == 0.0


def test_stops_and_goes() -> None:
    """A screen: three standstills of which two are half as long as the longest."""
    order = [*range(10), *[9] * 12, *range(10, 20), *[19] * 14, *range(20, 30), *[29] * 20, *range(30, 40)]
    assert longest_freeze_ms(shown(order)).value == 0.0


def test_a_pause_that_slows_down_is_not_frozen() -> None:
    """Motion that dies away by a fifth a frame and comes back likewise."""
    speed = 0.8 ** np.abs(np.arange(-30, 31))
    swing = np.cumsum(np.r_[np.ones(20), 1 - 0.8 ** np.arange(20), np.zeros(0)][::-1])
    places = np.r_[swing, swing[-1] + np.zeros(12), swing[-1] + np.cumsum(speed[:31])]
    pictures = 128 + 3 * places[:, None, None] * np.random.default_rng(0).normal(0, 1, (1, 16, 16))
    assert longest_freeze_ms(shown(range(len(places)), pictures=pictures.astype(np.float32))).value == 0.0


@pytest.mark.parametrize("encoder", [*ENCODERS])
def test_half_a_second_frozen_by_every_encoder(tmp_path: Path, encoder: str) -> None:
    """Twelve repeats at 24 frames a second, in the middle and at the end."""
    middle = evaluate_clip(coded(tmp_path / "middle.mkv", [*range(24), *[23] * 12, *range(36, 60)], encoder, speed=1.5))
    end = evaluate_clip(coded(tmp_path / "end.mkv", [*range(40), *[39] * 12], encoder, speed=1.5))
    one = evaluate_clip(coded(tmp_path / "one.mkv", [0] * 40, encoder))
    assert middle["longest_freeze_ms"].value == pytest.approx(500, abs=45)
    assert end["longest_freeze_ms"].value == pytest.approx(500, abs=45)
    assert one["longest_freeze_ms"].value > 1000


def test_still_against_its_own_motion() -> None:
    """Median of the moving steps is 8, so below 0.8 is still: two steps that no fixed limit would call frozen."""
    found = longest_still_ms([8.0, 9.0, 0.5, 0.7, 8.0, 7.0, 8.0], [100.0 * n for n in range(8)])
    assert (found.value, found.note) == (200.0, "0.2–0.4 s")


def test_a_clip_without_any_motion_is_still_throughout() -> None:
    assert longest_still_ms([0.0, 0.0], [0.0, 500.0, 1000.0]).value == 1000.0


def test_too_short() -> None:
    assert longest_freeze_ms(shown([0])).value is None
    assert longest_still_ms([], []).value is None


def test_times_that_run_backwards_give_no_negative_length() -> None:
    assert longest_still_ms([0.0, 0.0], [100.0, 50.0, 0.0]).value is None
    assert longest_freeze_ms(timed(shown([0, 0, 0]), [100.0, 50.0, 0.0])).value is None


def test_spans() -> None:
    assert list(stretches([])) == [] and list(stretches([True])) == [(0, 0)]
    found = longest_of(LONGEST_STILL_MS, iter([Span(0, 10), Span(20, 30), Span(40, 45)]), 3)
    assert found.span == Span(0, 10) and longest_of(LONGEST_STILL_MS, iter([]), 3).value == 0
    assert list(still_spans([True, False, True], [0.0, 1.0, 2.0, 3.0])) == [Span(0.0, 1.0), Span(2.0, 3.0)]
    assert list(frame_spans([True, False, True], [0.0, 1.0, 2.0])) == [Span(0.0, 1.0), Span(2.0, 2.0)]


def test_a_frame_held_at_a_variable_rate_is_the_standstill_of_a_constant_rate() -> None:
    """Thirty frames at 40 ms, but frame 14 stays for 3040 ms: at a constant rate 75 repeats of it, so 75 · 40 ms."""
    held = timed(shown(range(30)), [40.0 * t + 3000.0 * (t > 14) for t in range(30)])
    constant = shown([*range(15), *[14] * 75, *range(15, 30)])
    assert longest_freeze_ms(held).value == longest_freeze_ms(constant).value == 3000.0
    assert longest_freeze_ms(held).note == "0.6–3.6 s"
    assert longest_still_ms([5.0] * 29, held.times_ms.tolist()).value == 3000.0


def test_the_last_frame_is_shown_until_the_end() -> None:
    """Thirty frames at 40 ms, the last for 2040 ms: 50 repeats of it."""
    moving = shown(range(30))
    assert longest_freeze_ms(moving, end_ms=1160.0 + 2040.0).value == pytest.approx(2000.0)
    assert longest_freeze_ms(moving, end_ms=1200.0).value == pytest.approx(0.0), "as long as every other"


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
    assert longest_freeze_ms(timed(shown(range(30)), times)).value < 50


def test_frames_that_share_one_time_have_no_value() -> None:
    found = longest_freeze_ms(timed(shown(range(50)), [0.0] * 50))
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
    assert found["longest_freeze_ms"].signature.endswith("|v:3")
    assert found.badge == "flagged" and "frozen 0.4–3.4 s (longest_freeze_ms=3000 > 350)" in found.reasons
    assert even["longest_freeze_ms"].value == 0.0 and "frozen" not in " ".join(even.reasons)
    assert once.badge == "flagged" and "19 of 20 frames never shown: the next frame has no later time" in once.reasons
    assert once["longest_freeze_ms"].value is None and "longest_freeze_ms" in once.badge_detail.not_judged
