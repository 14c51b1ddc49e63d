"""Durations, rates and counts, and what stands in for them when there is none."""

from __future__ import annotations

from fractions import Fraction

from rushes.clip.metrics import timing


def test_decode_ok_needs_one_frame() -> None:
    assert timing.decode_ok(1).value is True
    broken = timing.decode_ok(0, error="expected a video; got text")
    assert (broken.value, broken.count, broken.note) == (False, 0, "expected a video; got text")


def test_the_delta_is_absolute_and_needs_both() -> None:
    video = timing.video_duration_ms(3000.0, frames=75)
    short, none = timing.audio_duration_ms(2400.0), timing.audio_duration_ms(None)
    long = timing.audio_duration_ms(3600.0)
    assert timing.av_duration_delta_ms(video, short).value == 600.0
    assert timing.av_duration_delta_ms(video, long).value == 600.0
    assert timing.av_duration_delta_ms(video, none).value is None
    assert timing.av_duration_delta_ms(video, none).note == "the clip has no sound"


def test_fps() -> None:
    assert timing.fps(Fraction(30000, 1001), frames=2).value == 30000 / 1001
    assert timing.fps(None, frames=1).value is None
    assert timing.fps(Fraction(0), frames=1).value is None


def test_a_count_of_no_frames_is_zero_and_says_why() -> None:
    assert (timing.frame_count(0).value, timing.frame_count(0).note) == (0, "no frame could be decoded")
    assert timing.decode_failures(3, frames=9).value == 3
    assert timing.video_duration_ms(None, frames=9).value is None
