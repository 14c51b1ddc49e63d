"""Clips whose frames say which they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rushes.media import write_clip
from rushes.media.find.sets import Clip

SIZE = (48, 32)


def numbered(levels: Sequence[int], *, size: tuple[int, int] = SIZE) -> list[np.ndarray]:
    """Frames of one grey level each: a frame is known by its level."""
    return [np.full((size[1], size[0], 3), level, np.uint8) for level in levels]


def textured(count: int, *, size: tuple[int, int] = SIZE, seed: int = 0) -> list[np.ndarray]:
    """Smooth noise that pans by two pixels a frame."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (size[1] // 4 + 2, (size[0] + 2 * count) // 4 + 2), dtype=np.uint8)
    ground = np.kron(coarse, np.ones((4, 4), np.uint8))
    return [np.repeat(ground[: size[1], 2 * n : 2 * n + size[0], None], 3, axis=2) for n in range(count)]


def lossless(path: Path, frames: Sequence[np.ndarray], *, fps: float = 25, pix_fmt: str = "bgr0") -> Path:
    """A clip that reads back exactly as it was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_clip(path, frames, fps=fps, codec="ffv1", pix_fmt=pix_fmt)


def pictures(folder: Path, frames: Sequence[np.ndarray]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for index, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"{index:04d}.png")
    return folder


@pytest.fixture
def as_clip():
    return lambda path: Clip(path.name, (path,))
