"""What `picture_samples` looks at: loops in C, with the same bytes as NumPy's sums of blocks.

NumPy adds the values of a row of a block in eight lanes, (r₀ + r₁) + (r₂ + r₃) + …, and the rows one after another, in
32 bits. So do these, and they leave out blocks that decide nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function, in_rows

Grey = NDArray[np.float32]


def levels(plane: NDArray[Any], scale: float, offset: float) -> Grey:
    """(Y − offset) · scale of a plane of 8 or 16 bits, in 32-bit floats."""
    coded, line = in_rows(plane)
    found = np.empty(coded.shape, np.float32)
    call = c_function(f"levels_{8 * coded.itemsize}", "void* int64 int64 int64 float32 float32 float32*")
    call(coded.ctypes.data, line, *coded.shape, scale, offset, found.ctypes.data)
    return found


def neighbour_steps(grey: Grey) -> tuple[Grey, Grey]:
    """Mean |Y − its right neighbour| of each column, and mean |Y − the one below| of each row."""
    plane, line = in_rows(grey)
    height, width = plane.shape
    right, below, room = np.zeros(width - 1, np.float32), np.empty(height - 1, np.float32), np.empty(width, np.float32)
    call = c_function("neighbour_steps", "float32* int64 int64 int64 float32* float32* float32*")
    call(plane.ctypes.data, line, height, width, right.ctypes.data, below.ctypes.data, room.ctypes.data)
    right /= height
    below /= width
    return right, below


def noise_blocks(grey: Grey) -> tuple[Grey, Grey]:
    """Means over 8 × 8 of |Y ∗ M| (the mask of Immerkær 1996) and of Y, without the outermost pixels."""
    plane, line = in_rows(grey)
    rows, columns = (max(side - 2, 0) // 8 for side in grey.shape)
    found, lane = np.zeros((2, rows * columns), np.float32), np.empty(8 * columns, np.float32)
    call = c_function("noise_blocks", "float32* int64 int64 int64 float32* float32*")
    call(plane.ctypes.data, line, rows, columns, lane.ctypes.data, found.ctypes.data)
    return found[0], found[1]


def static_blocks(grey: Grey, spread: float, most: float) -> tuple[int, int]:
    """Blocks of 16 × 16 with at least this variance whose covariances with both neighbours are at most `most` of it,
    and how many blocks there are."""
    plane, line = in_rows(grey)
    rows, columns = (max(side - 1, 0) // 16 for side in grey.shape)
    call = c_function("static_blocks", "float32* int64 int64 int64 float32 float32", "int64")
    return call(plane.ctypes.data, line, rows, columns, spread, most), rows * columns


def comb_ratios(grey: Grey, before: Grey, least: float) -> Grey:
    """Of blocks of 16 × 16 that differ by `least` or more: distance of lines over distance of the lines around them."""
    (plane, line), (then, line_then) = in_rows(grey), in_rows(before)
    rows, columns = max(grey.shape[0] - 2, 0) // 16, grey.shape[1] // 16
    ratios = np.empty(rows * columns, np.float32)
    places = plane.ctypes.data, line, then.ctypes.data, line_then
    call = c_function("comb_ratios", "float32* int64 float32* int64 int64 int64 float32 float32*", "int64")
    return ratios[: call(*places, rows, columns, least, ratios.ctypes.data)]


def seam_rows(grey: Grey, every: int, least: float) -> NDArray[np.int32]:
    """For each column but two on either side: rows in which the step to the next stands out from the two beside it."""
    plane, line = in_rows(grey[::every])
    counts = np.zeros(plane.shape[1] - 5, np.int32)
    call = c_function("seam_rows", "float32* int64 int64 int64 float32 int32*")
    call(plane.ctypes.data, line, *plane.shape, least, counts.ctypes.data)
    return counts


def seam_columns(grey: Grey, every: int, least: float) -> NDArray[np.int32]:
    """The same of rows."""
    plane, line = in_rows(grey[:, ::every])
    counts = np.zeros(plane.shape[0] - 5, np.int32)
    call = c_function("seam_columns", "float32* int64 int64 int64 float32 int32*")
    call(plane.ctypes.data, line, *plane.shape, least, counts.ctypes.data)
    return counts


def colour_counts(rgb: NDArray[np.uint8], every: int) -> tuple[NDArray[np.int64], int]:
    """How often each channel has each level in every so many rows and columns, and pixels with one at 250 or more and
    another at 8 or less."""
    part = rgb[::every, ::every]
    counts = np.zeros((3, 256), np.int64)
    call = c_function("colour_counts", "uint8* int64 int64 int64 int64 int64 int64*", "int64")
    return counts, call(part.ctypes.data, *part.strides, *part.shape[:2], counts.ctypes.data)
