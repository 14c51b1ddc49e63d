"""Pairs of pictures on which the pixel metrics are held against other people's code; made of whole numbers alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


def pictures() -> dict[str, tuple[Pixels, Pixels]]:
    """Named pairs, generated first, H × W × 3."""
    rng = np.random.default_rng(16)
    scene = texture(rng, 176, 208)
    small = texture(rng, 45, 61)
    return {
        "noise": (clipped(scene + rng.integers(-24, 25, scene.shape)), clipped(scene)),
        "blur": (clipped((scene[:-2] + scene[1:-1] + scene[2:] + 1) // 3), clipped(scene[1:-1])),
        "shifted": (clipped(np.roll(scene, 2, axis=1)), clipped(scene)),
        "dark": (clipped(scene // 16 + rng.integers(0, 3, scene.shape)), clipped(scene // 16)),
        "tinted": (clipped(scene + np.array([30, -10, 5])), clipped(scene)),
        "unlike": (clipped(255 - scene), clipped(scene)),
        "odd": (clipped(small + rng.integers(-9, 10, small.shape)), clipped(small)),
    }


def texture(rng: np.random.Generator, height: int, width: int) -> NDArray[np.int64]:
    """Patches of several sizes, summed: edges, plain areas and grain."""
    total = np.zeros((height, width, 3), np.int64)
    for size, strength in ((32, 160), (8, 60), (2, 24)):
        few = rng.integers(0, strength, (-(-height // size), -(-width // size), 3))
        total += np.repeat(np.repeat(few, size, axis=0), size, axis=1)[:height, :width]
    return total


def clipped(values: NDArray[np.int64]) -> Pixels:
    return np.clip(values, 0, 255).astype(np.uint8)
