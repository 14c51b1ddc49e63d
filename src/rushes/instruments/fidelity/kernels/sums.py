"""Sums over the differences of two pictures, exact."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function, in_rows

Plane: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]


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
    if gen.dtype == gt.dtype == np.uint8:
        return round(cv2.norm(gen, gt, cv2.NORM_L2SQR))  # whole numbers below 2⁵³
    (one, line), (other, other_line) = (in_rows(plane.astype(np.uint16, copy=False)) for plane in (gen, gt))
    call = c_function("squared_16", "uint16* int64 uint16* int64 int64 int64", "int64")
    return int(call(one.ctypes.data, line, other.ctypes.data, other_line, *gen.shape))


def rgb_sums(gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> RgbSums:
    """The sums of two H × W × 3 pictures of one shape."""
    one, other = (np.ascontiguousarray(picture) for picture in (gen, gt))
    sums = np.zeros(3, np.int64)
    call = c_function("rgb_sums", "uint8* uint8* int64 int64*")
    call(one.ctypes.data, other.ctypes.data, one.size, sums.ctypes.data)
    absolute, squared, wrapped = sums.tolist()
    return RgbSums(absolute, squared, wrapped, one.size)
