"""Frames mixed with those before them: dips at whole parts of the frame rate."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from rushes.instruments.clip.frames.small_pictures import layout, small_picture
from rushes.instruments.clip.metrics.time.ghosting import (
    LINES,
    MIXED,
    dip,
    ghosting,
    in_one_light,
    shown_ghosting,
    unevenness,
)
from rushes.instruments.clip.pictures.shown import Shown


def moving(frames: int = 100) -> np.ndarray:
    """16 × 20 points that wander: the sum of many small steps, each by chance."""
    return 120 + np.cumsum(np.random.default_rng(4).normal(0, 8, (frames, 16, 20)), axis=0)


def mixed(values: np.ndarray, count: int) -> np.ndarray:
    return np.array([values[max(0, n - count + 1) : n + 1].mean(axis=0) for n in range(len(values))])


def slowed(values: np.ndarray, times: int) -> np.ndarray:
    """So many times as slow, the pictures between being mixed of their neighbours."""
    places = np.arange((len(values) - 1) * times) / times
    below, share = places.astype(int), (places % 1)[:, None, None]
    return values[below] * (1 - share) + values[below + 1] * share


def panned(speed: float, frames: int = 100) -> np.ndarray:
    """A picture of 240 × 320 pixels that slides by so many of them a frame, as points."""
    fine = np.random.default_rng(2).normal(0, 12, (240, 1200)).cumsum(axis=1)
    fine = 128 + 40 * np.tanh((fine - np.linspace(fine[:, 0], fine[:, -1], 1200, axis=1)) / 60)
    views = [fine[:, round(speed * n) : round(speed * n) + 320].astype(np.uint8) for n in range(frames)]
    return np.array([small_picture(view, *layout(240), 1.0, 0.0) for view in views])


def test_the_depth_by_hand() -> None:
    # four frames: one dip, at a quarter; it is a hundredth of what lies beside it, 20 dB
    power = np.ones(LINES // 2 + 1)
    power[24] = 0.01
    assert dip(power, 4) == pytest.approx(20.0)
    # five frames: two dips, at a fifth and two fifths; one of them alone is half as much in the mean
    power = np.ones(LINES // 2 + 1)
    power[round(LINES / 5)] = 0.01
    assert dip(power, 5) == pytest.approx(10.0)


@pytest.mark.parametrize("count", MIXED)
def test_what_was_mixed_has_dips(count: int) -> None:
    found = ghosting(mixed(moving(), count))
    assert found.value is not None and found.value > 12


def test_what_was_not_mixed_has_no_dips() -> None:
    assert ghosting(moving()).value < 3


@pytest.mark.parametrize("speed", [4 / 3, 1.0, 4 / 5, 4 / 6, 2.0])
def test_a_pan_by_a_point_in_so_many_frames_has_no_dips(speed: float) -> None:
    assert ghosting(panned(speed)).value < 4


def upscaled(speed: float, frames: int = 60) -> np.ndarray:
    """A picture without what is finer than 2.4 pixels, which slides."""
    small = np.random.default_rng(1).integers(40, 210, (60, 170), dtype=np.uint8)
    wide = cv2.resize(small, (408, 144), interpolation=cv2.INTER_CUBIC)
    views = [np.ascontiguousarray(wide[:, round(speed * n) : round(speed * n) + 180]) for n in range(frames)]
    return np.array([small_picture(view, *layout(144), 1.0, 0.0) for view in views])


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_what_was_scaled_up_and_slides_is_told_apart(speed: float) -> None:
    assert ghosting(upscaled(speed)).value < 4


def test_bends_by_turns_by_hand() -> None:
    # of steps of 1 1 0 0 1 1 0 0 … the second differences are 0 and 1 by turns
    steps = np.tile([1.0, 1.0, 0.0, 0.0], 6)[:, None]
    assert unevenness([steps]) == pytest.approx(1e6)
    assert unevenness([np.arange(24.0)[:, None] ** 2]) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("times", [2, 3])
def test_slow_motion_that_was_mixed_is_told_apart(times: int) -> None:
    assert ghosting(slowed(moving(), times)).value == 0.0


def test_a_change_of_light_is_taken_off_by_hand() -> None:
    # light from 1 to 1.1 and 2 levels more, and one point of four that moves by 8 besides
    luma = np.array([[10.0, 20, 30, 40], [13.0, 24, 35, 46]])
    assert in_one_light(luma) == pytest.approx(0, abs=1e-9)
    assert np.abs(in_one_light(luma + [[0, 0, 0, 0], [0, 8, 0, 0]])).argmax() == 1


@pytest.mark.parametrize("lag", [5, 10])
def test_light_that_goes_off_and_on_leaves_no_dips(lag: int) -> None:
    values = moving()
    values[40 : 40 + lag] = 16
    assert ghosting(values).value < 3


def test_light_that_wanders_smoothly_leaves_no_dips() -> None:
    light = 1 + 0.2 * mixed(np.random.default_rng(8).normal(0, 1, (100, 1, 1)), 5)
    assert ghosting(moving() * light).value < 3


def test_repeats_are_left_out_first() -> None:
    held = np.repeat(moving(60), 3, axis=0).astype(np.float32)  # on threes
    changes = np.abs(np.diff(held, axis=0)).mean(axis=(1, 2))
    seen = SimpleNamespace(small=held, shown=Shown.of(held, 1000 / 24 * np.arange(180), changes), error="")
    assert shown_ghosting(seen).count < 70 and shown_ghosting(seen).value < 3


def test_only_as_many_as_were_taken_are_looked_at() -> None:
    values = moving().astype(np.float32)
    changes = np.abs(np.diff(values, axis=0)).mean(axis=(1, 2))
    seen = SimpleNamespace(small=values[:40], shown=Shown.of(values, 40.0 * np.arange(100), changes), error="")
    assert shown_ghosting(seen).count == 40


def test_nothing_moves_and_too_short() -> None:
    assert ghosting(np.full((60, 16, 20), 80.0) + 0.001 * moving(60)).value == 0.0
    assert ghosting(moving(20)).value is None


def test_too_small_is_said() -> None:
    seen = SimpleNamespace(small="frames of less than 120 pixels", shown=None, error="")
    assert shown_ghosting(seen).value is None and "120 pixels" in shown_ghosting(seen).note
