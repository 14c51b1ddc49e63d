"""Frames of whole numbers that move: a texture that is shifted a little further in every frame."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

HEIGHT, WIDTH = 132, 148
"""Neither is a multiple of 8 or 32: what is padded is part of the oracle."""


def moving(step: int, count: int) -> list[NDArray[np.uint8]]:
    """RGB frames of a texture that goes `step` pixels to the right, and half as many down, in each."""
    coarse = np.random.default_rng(5).integers(0, 256, (24, 26, 3), dtype=np.uint8)
    texture = cv2.resize(coarse, (26 * 16, 24 * 16), interpolation=cv2.INTER_LINEAR)
    places = ((100 - step * n // 2, 160 - step * n) for n in range(count))
    return [np.ascontiguousarray(texture[y : y + HEIGHT, x : x + WIDTH]) for y, x in places]


CLIPS = {"fast": (9, 5), "slow": (2, 5)}

if __name__ == "__main__":
    for name, how in CLIPS.items():
        folder = Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, frame in enumerate(moving(*how)):
            cv2.imwrite(str(folder / f"{number:03}.png"), frame[..., ::-1])
