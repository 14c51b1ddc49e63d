"""Sums over the differences of two pictures, exact."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.fidelity.kernels.rows import Plane, is_warm, packed
from rushes.media.numba_cache import kernel

_NARROW = 65536
"""Pixels of a row whose 8-bit squares (65025 at most) still fit into 32 bits."""


class RgbSums(NamedTuple):
    """Sums over all samples of two 8-bit pictures, three to a pixel."""

    absolute: int
    """Σ |a − b|."""
    squared: int
    """Σ (a − b)²."""
    wrapped: int
    """Σ ((a − b) mod 256)² mod 256: what 8-bit arithmetic makes of the line above."""
    samples: int


def squared_difference(gen: Plane, gt: Plane) -> int:
    """Σ (a − b)² over two planes of one shape, 8 or 16 bits."""
    height, width = gen.shape
    if gen.dtype == gt.dtype == np.uint8:
        return round(cv2.norm(gen, gt, cv2.NORM_L2SQR))  # whole numbers below 2⁵³
    return int(_wide_kernel()(packed(gen), packed(gt), height, width))


def rgb_sums(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> RgbSums:
    """The sums of two H × W × 3 pictures of one shape."""
    one, other = (np.ascontiguousarray(picture).reshape(picture.shape[0], -1) for picture in (gen, gt))
    if not is_warm():
        absolute, squared = (round(cv2.norm(one, other, kind)) for kind in (cv2.NORM_L1, cv2.NORM_L2SQR))
        return RgbSums(absolute, squared, int(((one - other) ** 2).sum(dtype=np.int64)), one.size)
    if one.shape[1] <= _NARROW:
        absolute, squared, wrapped = _rgb_kernel()(one, other)
        return RgbSums(int(absolute), int(squared), int(wrapped), one.size)
    return reference_rgb_sums(gen, gt)


def reference_rgb_sums(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> RgbSums:
    """The same as `rgb_sums`, written for reading."""
    wide = gen.astype(np.int64) - gt
    wraps = (gen - gt) ** 2
    return RgbSums(int(np.abs(wide).sum()), int((wide**2).sum()), int(wraps.sum(dtype=np.int64)), gen.size)


def _wide_squares(a: Any, b: Any, height: Any, width: Any) -> Any:
    total = np.int64(0)
    for i in range(height):
        for j in range(width):
            d = np.int64(a[i, j]) - np.int64(b[i, j])
            total += d * d
    return total


def _rgb_sums(a: Any, b: Any) -> Any:
    absolute = np.int64(0)
    squared = np.int64(0)
    wrapped = np.int64(0)
    height, width = a.shape
    for i in range(height):
        row_absolute = np.uint32(0)
        row_squared = np.uint32(0)
        row_wrapped = np.uint32(0)
        for j in range(width):
            d = np.int16(np.int16(a[i, j]) - np.int16(b[i, j]))
            square = np.uint32(np.int32(d) * np.int32(d))
            row_absolute = np.uint32(row_absolute + np.uint32(abs(d)))
            row_squared = np.uint32(row_squared + square)
            # (d mod 256)² and d² leave the same remainder by 256
            row_wrapped = np.uint32(row_wrapped + (square & np.uint32(255)))
        absolute += row_absolute
        squared += row_squared
        wrapped += row_wrapped
    return absolute, squared, wrapped


_wide_kernel, _rgb_kernel = kernel(_wide_squares), kernel(_rgb_sums)
