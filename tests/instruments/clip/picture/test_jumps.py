"""Jumps of colour, turned and stretched pictures, and stray frames at the ends."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from tests.picture_grids import column, grid, scene, times

from rushes.instruments.clip.metrics.picture.jumps import (
    colour_step,
    end_frame_jump,
    picture_stretched,
    picture_turned,
)


def still(frames: int = 20) -> np.ndarray:
    return np.repeat(scene()[None], frames, axis=0)


def test_a_colour_step_by_hand() -> None:
    # Cb + 3 and Cr + 4 from frame 12 on: 5 levels in one step, and none beside it
    later = column(np.arange(20) >= 12)
    found = colour_step(grid(still(), blue=3 * later, red=4 * later), times(20))
    assert found.value == pytest.approx(5.0) and found.note == "1.2 s"


def test_a_ramp_of_colour_is_no_step() -> None:
    assert colour_step(grid(still(), blue=column(3.0 * np.arange(20))), times(20)).value == 0


def test_a_cut_is_no_colour_step() -> None:
    luma = np.concatenate([still(10), np.repeat(scene(7)[None], 10, axis=0)])
    assert colour_step(grid(luma, blue=column(40.0 * (np.arange(20) >= 10))), times(20)).value == 0


def test_swapped_chroma_is_a_step() -> None:
    blue, red = np.full((20, 8, 10), 10.0), np.full((20, 8, 10), -14.0)
    blue[10:], red[10:] = red[10:].copy(), blue[10:].copy()
    # each changes by 24: √2 · 24
    assert colour_step(grid(still(), blue=blue, red=red), times(20)).value == pytest.approx(24 * 2**0.5, rel=1e-5)


@pytest.mark.parametrize(
    "turn",
    [
        lambda x: x[::-1],
        lambda x: x[::-1, ::-1],
        lambda x: np.roll(x, 3, axis=1),
        lambda x: 255 - x,
        lambda x: np.random.default_rng(5).permutation(x.ravel()).reshape(x.shape),
    ],
)
def test_turned_pictures(turn) -> None:
    luma = still()
    luma[8:] = turn(scene())
    found = picture_turned(grid(luma), times(20))
    assert found.value == pytest.approx(1.0, abs=1e-4) and found.note == "0.8 s"


def test_another_scene_is_not_a_turned_one() -> None:
    # the other one is much lighter: sorted values are 60 apart, as the unsorted ones are in the mean or more
    luma = still()
    luma[8:] = 60 + 0.5 * scene(9)
    assert picture_turned(grid(luma), times(20)).value < 0.8
    assert picture_turned(grid(still()), times(20)).value == 0


def test_flat_pictures_are_not_judged() -> None:
    luma = np.full((20, 8, 10), 100.0)
    luma[8:] = 101.0
    assert picture_turned(grid(luma), times(20)).value == 0
    assert picture_stretched(grid(luma), times(20)).value == 0


def smooth(rows: int, columns: int) -> np.ndarray:
    """A picture of soft waves: stretched, it is like nothing but itself."""
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    return 120 + 40 * np.sin(x / 1.7 + y / 5) + 25 * np.cos(y / 2.1 - x / 4)


def test_a_stretched_picture() -> None:
    before = smooth(16, 28)
    wide = cv2.resize(before, (round(28 * 1.33), 16), interpolation=cv2.INTER_LINEAR)
    left = (wide.shape[1] - 28) // 2
    luma = np.concatenate([np.repeat(before[None], 10, axis=0), np.repeat(wide[None, :, left : left + 28], 10, axis=0)])
    found = picture_stretched(grid(luma), times(20))
    assert found.value > 0.2 and found.note == "1.0 s"
    assert picture_stretched(grid(np.repeat(before[None], 20, axis=0)), times(20)).value == 0


@pytest.mark.parametrize(("frames", "span"), [(slice(0, 2), "0.0–0.2 s"), (slice(18, 20), "1.8–1.9 s")])
def test_stray_frames_at_either_end(frames: slice, span: str) -> None:
    # the light is 30 higher in all blocks: the step is 30, those around it are 0: 30 / (0 + 1)
    luma = still()
    luma[frames] += 30
    found = end_frame_jump(grid(luma), times(20))
    assert found.value == pytest.approx(30.0, rel=1e-5) and found.note == span


def test_no_stray_frames() -> None:
    assert end_frame_jump(grid(still()), times(20)).value == 0
    luma = still()
    luma[10:] += 30  # in the middle
    assert end_frame_jump(grid(luma), times(20)).value == 0
    faint = still()
    faint[0] += 5  # less than 6 levels
    assert end_frame_jump(grid(faint), times(20)).value == 0
    fast = still() + column(20.0 * (np.arange(20) % 2))  # every step is as large
    assert end_frame_jump(grid(fast), times(20)).value == pytest.approx(20 / 21, rel=1e-5)


def test_another_shot_at_an_end_is_no_stray_frame() -> None:
    # ten frames a second: one foreign frame is stray, three are a shot before a cut
    for count, is_stray in ((1, True), (3, False)):
        for frames in (slice(0, count), slice(20 - count, 20)):
            luma = still()
            luma[frames] = scene(7)
            assert (end_frame_jump(grid(luma), times(20)).value > 0) == is_stray


def test_a_longer_stretch_of_one_colour_at_an_end_is_stray() -> None:
    # 40 frames, of which the first eight are flat: as long as 800 ms in green, as long as 400 ms in grey
    for blue, frames, is_stray in ((30.0, 8, True), (0.0, 8, False), (0.0, 3, True), (30.0, 11, False)):
        luma = np.repeat(scene()[None], 48, axis=0)
        luma[:frames] = 130.0
        tint = column(np.where(np.arange(48) < frames, blue, 0.0))
        assert (end_frame_jump(grid(luma, blue=tint), times(48)).value > 0) == is_stray, (blue, frames)


def test_too_short() -> None:
    short = grid(still(3))
    for function in (colour_step, picture_turned, picture_stretched, end_frame_jump):
        assert function(short, times(3)).value is None


def test_one_colour_may_fill_more_than_a_quarter_of_a_short_clip() -> None:
    # 16 frames at 8 a second: 875 ms of green are stray, half of it is not; nor is grey that is more than a quarter
    for blue, frames, is_stray in ((30.0, 6, True), (30.0, 7, True), (30.0, 8, False), (0.0, 6, False), (0.0, 3, True)):
        luma = still(16)
        luma[:frames] = 130.0
        tint = column(np.where(np.arange(16) < frames, blue, 0.0))
        found = end_frame_jump(grid(luma, blue=tint), times(16, fps=8.0))
        assert (found.value > 0) == is_stray, (blue, frames)
