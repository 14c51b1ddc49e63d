"""Durations, rates and counts, and what stands in for them when there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rushes.instruments.clip.frames.observe import Observation
from rushes.instruments.clip.metrics import timing
from rushes.media import MediaFacts
from rushes.media.array_reader import ArrayReader


def _seen(frames: int, *, times: np.ndarray | None = None, **more: Any) -> Observation:
    steady = np.arange(frames) * 40.0
    return Observation(frames=frames, time_ms=steady if times is None else times, **more)


def _stated(frames: int, *, duration_ms: float | None = 3000.0, fps: Fraction | None = None) -> MediaFacts:
    """What a file says of its picture."""
    facts = ArrayReader(np.zeros((max(frames, 1), 2, 2, 3), np.uint8), fps=25).facts
    assert facts.video is not None
    return replace(facts, video=replace(facts.video, duration_ms=duration_ms, fps=fps))


def test_decode_ok_needs_one_frame() -> None:
    assert timing.decode_ok(_seen(1)).value is True
    broken = timing.decode_ok(_seen(0, error="expected a video; got text"))
    assert (broken.value, broken.count, broken.note) == (False, 0, "expected a video; got text")


def test_the_delta_is_absolute_and_needs_both() -> None:
    video = _seen(75, facts=_stated(75))
    deltas = [timing.av_duration_delta_ms(replace(video, audio_duration_ms=ms)) for ms in (2400.0, 3600.0, None)]
    assert [delta.value for delta in deltas] == [600.0, 600.0, None]
    assert deltas[-1].note == "the clip has no sound"


def test_fps() -> None:
    assert timing.fps(_seen(2, facts=_stated(2, fps=Fraction(30000, 1001)))).value == 30000 / 1001
    assert timing.fps(_seen(1)).value is None
    assert timing.fps(_seen(1, facts=_stated(1, fps=Fraction(0)))).value is None


def test_a_count_of_no_frames_is_zero_and_says_why() -> None:
    nothing = timing.frame_count(_seen(0))
    assert (nothing.value, nothing.note) == (0, "no frame could be decoded")
    assert timing.damage_count(timing.DECODE_FAILURES, _seen(9, decode_failures=3)).value == 3
    assert timing.video_duration_ms(_seen(9)).value is None


def test_what_is_promised_and_not_there() -> None:
    half = _seen(95, promised_duration_ms=8000.0, measured_duration_ms=3800.0)
    assert timing.duration_shortfall_ms(half).value == 4200.0
    longer = replace(half, measured_duration_ms=8040.0)
    assert timing.duration_shortfall_ms(longer).value == 0.0  # longer is not short
    nothing = timing.duration_shortfall_ms(replace(half, promised_duration_ms=None))
    assert (nothing.value, nothing.note) == (None, "the file promises no length of the picture")
    assert timing.duration_shortfall_ms(_seen(0, promised_duration_ms=8000.0)).value is None


# The largest of 100 ms, 3 frames and 0.5 % of the promise.
@pytest.mark.parametrize(
    ("promised", "step", "tolerated"),
    [(8000.0, 20.0, 100.0), (8000.0, 40.0, 120.0), (60_000.0, 40.0, 300.0), (2000.0, 125.0, 375.0)],
)
def test_headers_may_be_off_by_so_much(promised: float, step: float, tolerated: float) -> None:
    assert timing.shortfall_tolerance_ms(promised, step_ms=step) == tolerated
    assert not timing.ends_early(promised, promised - tolerated, step_ms=step)  # the boundary itself is tolerated
    assert timing.ends_early(promised, promised - tolerated - 1, step_ms=step)


def test_nothing_promised_is_nothing_early() -> None:
    assert not timing.ends_early(None, 10.0, step_ms=40.0)
    assert not timing.ends_early(10.0, None, step_ms=40.0)


def _times(*gaps: int, frames: int = 60) -> np.ndarray:
    """A steady 25 fps with one gap of ten frames from each of these on."""
    kept = [index for index in range(frames) if not any(gap <= index < gap + 10 for gap in gaps)]
    return np.array(kept) * 40.0


def test_frames_that_holes_leave_room_for() -> None:
    # Ten frames gone from 30 on: one step of 440 ms among steps of 40, round(440 / 40) − 1 = 10.
    mkv = {"damaged": False, "container": "matroska,webm"}
    assert timing.frames_in_holes(_times(30), **mkv) == 10
    assert timing.frames_in_holes(_times(), **mkv) == 0
    assert timing.frames_in_holes(_times(20, 40, frames=80), **mkv) == 20
    assert timing.frames_in_holes(_times(30, frames=34), **mkv) == 0  # at the end there is no step
    assert timing.frames_in_holes(_times(1), **mkv) == 0  # a title card: a first frame that stays
    assert timing.frames_in_holes(_times(10, frames=30), **mkv) == 0  # 18 other steps are too few
    assert timing.frames_in_holes(_times(12, 32, 52, 72, frames=100), **mkv) == 0  # four holes: a variable rate


def test_where_holes_are_not_believed_without_damage() -> None:
    for container in ("mov,mp4,m4a,3gp,3g2,mj2", "avi", "gif", "mpegts"):
        assert timing.frames_in_holes(_times(30), damaged=False, container=container) == 0
        assert timing.frames_in_holes(_times(30), damaged=True, container=container) == 10
    jitter = _times(30) + np.resize([0.0, 4.0], 50)  # a camera's clock: 10 % to and fro
    assert timing.frames_in_holes(jitter, damaged=False, container="matroska,webm") == 0
    variable = np.cumsum(np.resize([20.0, 40.0, 90.0], 60))
    assert timing.frames_in_holes(variable, damaged=True) == 0
    doubles = np.delete(np.arange(60) * 40.0, [20, 30])  # two single frames dropped: seen with damage alone
    assert timing.frames_in_holes(doubles, damaged=False, container="matroska,webm") == 0
    assert timing.frames_in_holes(doubles, damaged=True) == 2


def test_holes_of_few_frames_and_of_none() -> None:
    for times in (np.zeros(0), np.zeros(1), np.array([0.0, 40.0]), np.zeros(30)):
        assert timing.frames_in_holes(times, damaged=True) == 0
    assert timing.usual_step_ms(np.zeros(0)) == 0.0


def test_missing_frames_of_an_index_need_a_sign_of_damage() -> None:
    # 95 of 200: the picture ends 4.2 s early.
    half = _seen(95, measured_duration_ms=3800.0, promised_duration_ms=8000.0, promised_frames=200)
    assert timing.missing_frames(half).value == 105
    # One frame a step short of the end is what an edit list or a frame that is not coded leaves.
    close = _seen(199, measured_duration_ms=7960.0, promised_duration_ms=8000.0, promised_frames=200)
    assert (timing.missing_frames(close).value, timing.missing_frames(close).note) == (
        0,
        "1 entries of the index gave no frame, without any damage",
    )
    # Fields in packets of their own: twice as many as frames, and the picture as long as it should be.
    fields = _seen(100, measured_duration_ms=4000.0, promised_duration_ms=4000.0, promised_frames=200)
    assert timing.missing_frames(fields).value == 0
    for sign in ("decode_failures", "corrupt_frames", "corrupt_packets"):
        broken = replace(close, **{sign: 1})
        assert timing.missing_frames(broken).value == 1
    more = _seen(201, measured_duration_ms=8040.0, promised_duration_ms=8000.0, promised_frames=200)
    assert timing.missing_frames(more).value == 0


def test_missing_frames_without_an_index_follow_from_length_and_holes() -> None:
    half = _seen(95, measured_duration_ms=3800.0, promised_duration_ms=8000.0)
    assert timing.missing_frames(half).value == 105  # 4200 / 40
    header = _seen(132, measured_duration_ms=5280.0, promised_duration_ms=5320.0)  # an AVI that says 133
    assert timing.missing_frames(header).value == 0
    times = _times(30, frames=95)
    both = _seen(85, times=times, measured_duration_ms=3800.0, promised_duration_ms=8000.0, decode_failures=1)
    assert timing.missing_frames(both).value == 10 + 105


def test_what_is_missing_from_what_was_not_read_is_not_known() -> None:
    assert timing.missing_frames(Observation(error="not a video")).note == "not a video"
    stopped = _seen(8, error="the size changes at frame 8", promised_frames=200)
    assert timing.missing_frames(stopped).value is None
    assert timing.damage_count(timing.CORRUPT_FRAMES, _seen(0)).note == "no frame could be decoded"
    assert timing.damage_count(timing.CORRUPT_FRAMES, _seen(200, corrupt_frames=43)).value == 43
