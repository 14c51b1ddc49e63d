"""Small clips to try the examples on: stripes that drift, each set with a look of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rushes.media import write_clip


def make_clips(folder: str, *, count: int = 2, contrast: float = 60, frozen: int = 0, frames: int = 24) -> str:
    """Write `count` clips into a folder and return it; the last `frozen` frames of each do not move."""
    for number in range(count):
        pictures = _pictures(number, contrast, frames, frozen)
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_clip(Path(folder) / f"take{number + 1}.mp4", pictures, fps=25)
    return folder


def _pictures(number: int, contrast: float, frames: int, frozen: int) -> Iterator[NDArray[np.uint8]]:
    columns = np.arange(96)[None, :, None]
    for frame in range(frames):
        step = min(frame, frames - frozen)
        stripes = 128 + contrast * np.sin(2 * np.pi * (columns - 3 * step) / (12 + 4 * number))
        yield np.broadcast_to(stripes, (64, 96, 3)).astype(np.uint8)
