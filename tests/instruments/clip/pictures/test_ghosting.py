"""Frames that are the mean of several: dips in the spectrum over time, and none where nothing was mixed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rushes.instruments.clip.metrics.time.ghosting import LINES, MIXED, dip, ghosting, shown_ghosting
from rushes.instruments.clip.pictures.shown import Shown


def moving(frames: int = 100) -> np.ndarray:
    """16 × 20 blocks that wander: the sum of many small steps, each by chance."""
    return 120 + np.cumsum(np.random.default_rng(4).normal(0, 3, (frames, 16, 20)), axis=0)


def mixed(values: np.ndarray, count: int) -> np.ndarray:
    return np.array([values[max(0, n - count + 1) : n + 1].mean(axis=0) for n in range(len(values))])


def panned(speed: float, frames: int = 100) -> np.ndarray:
    """Blocks of 8 × 8 pixels of a picture that slides by so many pixels a frame."""
    fine = np.random.default_rng(2).normal(0, 40, (128, 1200)).cumsum(axis=1)
    fine -= np.linspace(fine[:, 0], fine[:, -1], 1200, axis=1)
    views = [fine[:, round(speed * n) : round(speed * n) + 160] for n in range(frames)]
    return np.array([view.reshape(16, 8, 20, 8).mean(axis=(1, 3)) for view in views])


def test_the_depth_by_hand() -> None:
    # four frames: one dip, at a quarter; it is a hundredth of what lies beside it, 20 dB
    power = np.ones(LINES // 2 + 1)
    power[24] = 0.01
    assert dip(power, 4) == pytest.approx(20.0)
    # six frames: dips at a sixth and a third, of which the spectrum has neither
    assert dip(power, 6) == pytest.approx(0.0)
    # three frames: one at a third; beside it, 14 lines away, 1 and 4: 10 log 2 = 3.01 dB
    power[46] = 4.0
    assert dip(power, 3) == pytest.approx(10 * np.log10(2))


@pytest.mark.parametrize("count", MIXED)
def test_mixed_frames(count: int) -> None:
    found = ghosting(mixed(moving(), count))
    assert found.value is not None and found.value > 12


def test_what_was_not_mixed_has_no_dips() -> None:
    assert ghosting(moving()).value < 3


@pytest.mark.parametrize("speed", [8 / 3, 2.0, 8 / 5, 8 / 6, 1.0])
def test_a_pan_by_a_block_in_so_many_frames_is_told_apart(speed: float) -> None:
    assert ghosting(panned(speed)).value < 6


def test_repeats_are_left_out_first() -> None:
    held = np.repeat(moving(60), 3, axis=0).astype(np.float32)  # on threes
    changes = np.abs(np.diff(held, axis=0)).mean(axis=(1, 2))
    seen = SimpleNamespace(
        grid=SimpleNamespace(luma=held), shown=Shown.of(held, 1000 / 24 * np.arange(180), changes), error=""
    )
    assert shown_ghosting(seen).count < 70 and shown_ghosting(seen).value < 3


def test_nothing_moves_and_too_short() -> None:
    assert ghosting(np.full((60, 16, 20), 80.0) + 0.001 * moving(60)).value == 0.0
    assert ghosting(moving(20)).value is None
