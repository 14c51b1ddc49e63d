"""Shaking, on pictures that are moved by known amounts: a pan, a sway and held frames are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.picture_grids import grid, times

from rushes.instruments.clip.metrics.picture.shake import (
    FEWEST,
    displacements,
    frame_jitter,
    local_jitter,
    row_wobble,
)

ROWS, COLUMNS, FPS = 16, 24, 25.0
_DOWN, _RIGHT = np.meshgrid(np.arange(ROWS), np.arange(COLUMNS), indexing="ij")


def moved(down: Any, right: Any) -> np.ndarray:
    """Smooth waves, shifted by so many blocks: numbers per frame, or frames × rows × columns."""
    y, x = (_DOWN - np.reshape(v, (len(v), *np.shape(v)[1:]) or -1) for v in (_each(down), _each(right)))
    x = x - _DOWN + _RIGHT
    waves = np.sin(x / 2.1 + 0.4 * y) + np.sin(y / 1.9 - 0.3 * x) + np.sin(x / 3.3 + y / 2.7)
    return 128 + 25 * waves


def _each(values: Any) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    return found[:, None, None] if found.ndim == 1 else found


def read(metric: Any, luma: np.ndarray, fps: float = FPS) -> float:
    return float(metric(grid(luma), times(len(luma), fps)).value)


def test_displacements_by_hand() -> None:
    """A tenth of a block to the right and a twentieth up in each of 20 steps."""
    frames = np.arange(21)
    found = displacements(grid(moved(-0.05 * frames, 0.1 * frames)), (2, 3))
    assert found.shape == (20, 2, 3, 2)
    assert np.abs(found - [-0.05, 0.1]).max() < 0.01


def test_a_picture_that_goes_to_and_fro() -> None:
    """±a every other frame: steps of ±2a, c(1) = −4a², and c(3) is negative too: 100/16 · 2a = 1.25 of a = 0.1."""
    places = 0.1 * (-1.0) ** np.arange(40)
    assert read(frame_jitter, moved(0 * places, places)) == pytest.approx(1.25, rel=0.03)
    assert read(frame_jitter, moved(places, 0 * places)) == pytest.approx(1.25, rel=0.03)
    assert read(frame_jitter, moved(0 * places, 2 * places)) == pytest.approx(2.5, rel=0.05)


def test_white_noise_of_place_under_a_pan() -> None:
    """Uniform within ±a along both axes: a variance of 2a²/3, whatever is added steadily."""
    rng = np.random.default_rng(3)
    noise, pan = rng.uniform(-0.2, 0.2, (2, 400)), 0.15 * np.arange(400)
    expected = 100 / 16 * np.sqrt(2 / 3) * 0.2
    assert read(frame_jitter, moved(*noise)) == pytest.approx(expected, rel=0.12)
    assert read(frame_jitter, moved(noise[0], noise[1] + pan)) == pytest.approx(expected, rel=0.12)


def test_a_thing_that_crosses_a_plain_picture_does_not_shake_it() -> None:
    """A bar of 24 pixels that moves by 6, in blocks of 9: its edges come and go, and the rest stands still."""
    frames = np.full((28, 9 * ROWS, 9 * COLUMNS), 60.0)
    for number, frame in enumerate(frames):
        frame[32:112, 6 * number : 6 * number + 24] = 230.0
    luma = frames.reshape(28, ROWS, 9, COLUMNS, 9).mean(axis=(2, 4))
    moves = displacements(grid(luma), (1, 1))[:, 0, 0]
    near, *further = (float((moves[lag:] * moves[:-lag]).sum(axis=1).mean()) for lag in (1, 2, 3, 4))
    assert 100 / 16 * np.sqrt(max(0.0, min(further)) - near) > 0.3, "by the picture as a whole alone"
    assert read(frame_jitter, luma) == 0.0


@pytest.mark.parametrize(
    "path",
    [
        np.zeros(50),
        0.3 * np.arange(50),
        np.repeat(0.4 * np.arange(25), 2),
        np.repeat(0.6 * np.arange(20), 3)[:50],
        0.4 * (4 * np.arange(50) // 5),
        np.sin(2 * np.pi * 1.5 * np.arange(50) / FPS),
    ],
    ids=["still", "pan", "on twos", "on threes", "24 in 30", "a hand's sway"],
)
def test_steady_motion_is_no_shaking(path: np.ndarray) -> None:
    luma = moved(0 * path, path)
    assert read(frame_jitter, luma) < 0.03
    assert read(local_jitter, luma) < 0.02
    assert read(row_wobble, luma) < 0.05


def test_parts_against_each_other() -> None:
    """The left half goes by +a and −a in turn, the right half against it: 2a off the median in every step."""
    side = np.where(_RIGHT < COLUMNS // 2, 0.1, -0.1)
    luma = moved(0 * side + np.zeros((40, 1, 1)), side * ((-1.0) ** np.arange(40))[:, None, None])
    assert read(local_jitter, luma) == pytest.approx(1.25, rel=0.15)


def test_a_wave_that_rolls_down_the_rows() -> None:
    """a = 0.3 blocks, three times a second at 25 frames: √2 π · 3/25 · 0.3 · 100/16 = 1.0 at half a swing."""
    frame = np.arange(75)[:, None, None]
    wave = 0.3 * np.sin(2 * np.pi * (2 * _DOWN / ROWS - 3 * frame / FPS))
    found = read(row_wobble, moved(0 * wave, wave))
    assert 0.7 < found < 1.1
    assert read(row_wobble, moved(0 * wave, wave / 2)) == pytest.approx(found / 2, rel=0.1)


def test_a_cut_moves_nothing_and_a_short_clip_has_no_value() -> None:
    still = np.zeros(20)
    cut = np.concatenate([moved(still, still), moved(still + 9, still + 5)])
    assert read(frame_jitter, cut) == 0.0
    few = moved(np.zeros(FEWEST), np.zeros(FEWEST))
    for metric in (frame_jitter, local_jitter, row_wobble):
        assert metric(grid(few), times(FEWEST)).value is None
        assert metric(grid(np.full((20, 1, 1), 90.0)), times(20)).value == 0.0
