"""Grids made by hand, for metrics of the picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from rushes.instruments.clip.frames.picture_grid import PictureGrid

ROWS, COLUMNS = 8, 10


def scene(seed: int = 1) -> np.ndarray:
    """Blocks of a picture with structure: 60 to 200."""
    return np.random.default_rng(seed).uniform(60, 200, (ROWS, COLUMNS)).astype(np.float32)


def grid(
    luma: Any, *, blue: Any = 0.0, red: Any = 0.0, step: Any = None, texture: Any = 5.0, textured: Any = None
) -> PictureGrid:
    """A grid of these blocks (frames × rows × columns; numbers stand for all); steps are those of the block means."""
    light = np.asarray(luma, dtype=np.float32)
    shape = light.shape
    change = np.abs(np.diff(light, axis=0, prepend=light[:1])) if step is None else step
    frames = np.arange(shape[0]) if textured is None else np.asarray(textured)
    return PictureGrid(
        luma=light,
        step=np.broadcast_to(np.asarray(change, np.float32), shape),
        blue=np.broadcast_to(np.asarray(blue, np.float32), shape).copy(),
        red=np.broadcast_to(np.asarray(red, np.float32), shape).copy(),
        texture=np.broadcast_to(np.asarray(texture, np.float32), (len(frames), *shape[1:])).copy(),
        textured=frames,
    )


def times(frames: int, fps: float = 10.0) -> list[float]:
    return [1000.0 * frame / fps for frame in range(frames)]


def column(values: Any) -> np.ndarray:
    """One number per frame, for all its blocks."""
    return np.asarray(values, dtype=np.float32)[:, None, None]
