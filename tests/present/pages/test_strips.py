"""Which frames a film strip takes."""

from __future__ import annotations

from pathlib import Path

from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.frames.film_strips import FRAMES, StripTask, key_frames, take_strip


def test_many_faults_are_spread_over_the_clip() -> None:
    frames = key_frames(1001, list(range(1, 1000, 2)))
    # 250 and 750 of the fixed places are even; three faults fit: the first, the middle one, the last.
    assert len(frames) == FRAMES and frames[0] == 0 and frames[-1] == 1000
    assert {1, 999} <= set(frames)


def test_short_clips_and_faults_outside_them() -> None:
    assert key_frames(0, [3]) == ()
    assert key_frames(1, [0, 5]) == (0,)
    assert key_frames(3, [1]) == (0, 1, 2)


def test_a_strip_is_taken_from_the_clip_that_was_measured(takes: Path) -> None:
    clip = takes / "good.mp4"
    task = StripTask(candidates=("nowhere.mp4", str(clip)), sha256=file_digest(clip), frames=(0, 39))
    strip = take_strip(task)
    assert [(frame.frame, frame.time_ms) for frame in strip.frames] == [(0, 0.0), (39, 1560.0)]


def test_what_cannot_be_shown_says_why(takes: Path) -> None:
    broken = take_strip(StripTask(candidates=(str(takes / "broken.mp4"),), sha256=None, frames=(0,)))
    assert broken.frames == () and "cannot be decoded" in broken.missing
    odd = take_strip(StripTask(candidates=("a\0b",), sha256=None, frames=(0,)))
    assert "no longer where" in odd.missing
    late = take_strip(StripTask(candidates=(str(takes / "good.mp4"),), sha256=None, frames=(900,)))
    assert "No frame" in late.missing
