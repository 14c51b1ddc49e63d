"""SSIM under a Gaussian window of 11 × 11 pixels, σ 1.5, where the whole window lies in the picture.

With s = a + b and d = a − b, and every mean taken under the window,

    2 μa μb = (μs² − μd²) / 2      μa² + μb² = (μs² + μd²) / 2
    2 σab   = (σs² − σd²) / 2      σa² + σb² = (σs² + σd²) / 2

so four means do for five. It is also the more exact way in 32-bit floats: what rounding adds to σs² it adds above and
below the line, and σd² is small wherever two pictures are alike. Pixels are held as their distance from the middle of
the scale, for the same reason. Against 64-bit arithmetic a picture's mean is off by some 1e-9, and by up to
1e-6 where all of it is grain on plain paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.core.definition import Setting
from rushes.native import c_function, in_rows

WINDOW = 11
SIGMA = 1.5
HOW: Mapping[str, Setting] = {
    "precision": "float32",
    "sigma": SIGMA,
    "window": f"gaussian-{WINDOW}",
    "windows": "valid",
}
"""What signatures say about the window."""


class Scaled(NamedTuple):
    """Two pictures of one shape, of 8 or 16 bits or in floats of 32, and how their values become comparable:
    value · gain − shift."""

    gen: NDArray[Any]
    gt: NDArray[Any]
    gains: tuple[float, float] = (1.0, 1.0)
    shifts: tuple[float, float] = (128.0, 128.0)
    """Of the scaled values: where the middle of the scale lies."""
    middle: float = 128.0
    """What the values lack once they are shifted: black is at −middle."""
    peak: float = 255.0
    """White less black, L of the formula."""


class Similarity(NamedTuple):
    """Means over the windows of two pictures."""

    ssim: float
    contrast: float
    """SSIM without its term of the means: contrast and structure."""


def gaussian_ssim(
    pair: Scaled, *, k1: float = 0.01, k2: float = 0.03, contrast: bool = True, vectors: int = 2
) -> Similarity:
    """SSIM of two pictures of at least 11 × 11 pixels; its contrast is NaN where it is not asked for.

    `vectors` is for tests, and the bytes are the same: 0 does without the processor's fused multiply-add, 1 and 2 use
    it up to 256 and 512 bits wide.
    """
    height, width = pair.gen.shape
    numbers, totals = constants(pair.middle, pair.peak, k1, k2), np.empty(2)
    room = np.empty(c_function("gaussian_room", "", "int64")(), np.uint8)
    call = c_function("gaussian_ssim", f"{_SIDE} {_SIDE} int64 int64 float32* int64 int64 void* float64*")
    places = (array.ctypes.data for array in (room, totals))
    (one, gen), (other, gt) = (_side(pair, number) for number in range(2))
    sides = one.ctypes.data, *gen, other.ctypes.data, *gt
    call(*sides, height, width, numbers.ctypes.data, vectors, contrast, *places)
    windows = (height - WINDOW + 1) * (width - WINDOW + 1)
    ssim, contrasts = totals.tolist()
    return Similarity(ssim / windows, contrasts / windows if contrast else math.nan)


def halved(pair: Scaled) -> Scaled:
    """Both pictures at half the size: means of 2 × 2 pixels; the last row or column counts twice where it is alone."""
    height, width = pair.gen.shape
    room = np.empty((2, width + 1), np.float32)
    smaller = np.empty((2, (height + 1) // 2, (width + 1) // 2), np.float32)
    call = c_function("halved", f"{_SIDE} int64 int64 float32* float32*")
    for number, out in enumerate(smaller):
        values, side = _side(pair, number)
        call(values.ctypes.data, *side, height, width, room.ctypes.data, out.ctypes.data)
    return Scaled(smaller[0], smaller[1], (1.0, 1.0), (0.0, 0.0), pair.middle, pair.peak)


_SIDE = "void* int64 int64 float32 float32"
"""What the loops are told of a picture: where it lies, how far apart its rows are, bits of a value, gain and shift."""


def _side(pair: Scaled, number: int) -> tuple[NDArray[Any], tuple[int, int, float, float]]:
    """One picture of a pair as `_SIDE` has it, its place being the array's."""
    values, line = in_rows((pair.gen, pair.gt)[number])
    return values, (line, 8 * values.itemsize, pair.gains[number], pair.shifts[number])


@cache
def weights() -> tuple[np.float32, ...]:
    """The window's weights from its middle outwards, the outermost such that they and their mirror image sum to 1.

    Were it rounded like the others, the sum would be off by 1e-8, and a variance by as much of the mean's square.
    """
    side = np.exp(-(np.arange(WINDOW // 2 + 1) ** 2) / (2 * SIGMA**2))
    inner = (side / (2 * side.sum() - 1)).astype(np.float32)[:-1]
    return *inner, np.float32(0.5 - float(inner[0]) / 2 - inner[1:].sum(dtype=np.float64))


@cache
def constants(middle: float, peak: float, k1: float, k2: float) -> NDArray[np.float32]:
    """What the loops are told: twice the middle of the scale, C1 and C2, as in the terms above; the weights."""
    return np.array([2 * middle, 2 * (k1 * peak) ** 2, 2 * (k2 * peak) ** 2, *weights()], np.float32)
