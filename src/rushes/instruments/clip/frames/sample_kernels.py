"""What `picture_samples` looks at: loops in C, with the same bytes as NumPy's sums of blocks.

NumPy adds the values of a row of a block in eight lanes, (r₀ + r₁) + (r₂ + r₃) + …, and the rows one after another, in
32 bits. So do these, and they leave out blocks that decide nothing. Everything that is asked of the same rows is found
while they are at hand, and no picture is made in between: between two frames the decoder has emptied the processor's
caches, so that memory costs more than sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.media.luma import LumaPlane
from rushes.media.yuv import YuvPlanes
from rushes.native import c_function, in_rows

Grey = NDArray[np.float32]
Counts = NDArray[np.int64]

_MIDDLE = "void* int64 void* int64 int64 int64" + 7 * " float32" + " float32* float32* int64*"
_BANDS = 2 * (16 + 2) + 1
"""Rows of scratch for the middle of a picture: two bands, each with the two rows that follow, and a row."""


class Middle(NamedTuple):
    """What is found of the middle of a picture, in levels."""

    right: Grey
    """Mean |Y − its right neighbour| of each column but the last."""
    below: Grey
    """Mean |Y − the one below| of each row but the last."""
    response: Grey
    """Mean |Y ∗ M| of each block of 8 × 8 (the mask of Immerkær 1996), without the outermost pixels."""
    light: Grey
    """Mean Y of the same blocks."""
    static: int
    """Blocks of 16 × 16 that vary, in which neighbours have little to do with each other."""
    blocks: int
    """How many such blocks there are."""
    combs: Grey
    """Of blocks that differ from the frame before: distance of lines over that of the lines around them, plus one."""


def middle(plane: LumaPlane, before: LumaPlane | None, *, spread: float, share: float, moves: float) -> Middle:
    """Look at the middle of a plane of 8 or 16 bits, and of the one before it, which has the same size.

    Static blocks have a variance of `spread` or more and covariances with both neighbours of at most `share` of it;
    combs are looked for where a block differs by `moves` levels or more.
    """
    then = plane if before is None else before
    narrow = plane.values.dtype == then.values.dtype == np.uint8
    (now, line), (was, line_then) = (in_rows(x.values if narrow else x.values.astype(np.uint16)) for x in (plane, then))
    rows, columns = now.shape
    noise, most = (max(rows - 2, 0) // 8) * (max(columns - 2, 0) // 8), (max(rows - 2, 0) // 16) * (columns // 16)
    ends = np.cumsum([columns - 1, rows - 1, noise, noise, most]).tolist()
    found, counts = np.zeros(ends[-1], np.float32), np.zeros(2, np.int64)
    room = np.empty(_BANDS * columns, np.float32)
    places = now.ctypes.data, line, 0 if before is None else was.ctypes.data, line_then
    levels = plane.scale, plane.offset, then.scale, then.offset
    call = c_function(f"middle_{8 * now.itemsize}", _MIDDLE)
    call(*places, rows, columns, *levels, spread, share, moves, *(x.ctypes.data for x in (room, found, counts)))
    right, below, response, light, combs = (found[a:b] for a, b in zip([0, *ends], ends, strict=False))
    static, kept = counts.tolist()
    return Middle(right, below, response, light, static, (rows - 1) // 16 * ((columns - 1) // 16), combs[:kept])


def seam_counts(plane: LumaPlane, least: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Places at which the step to the next pixel is larger by `least` levels than the two on either side of it.

    How many each column has, but two on either side, in every third row; and each row in every third column.
    """
    coded, line = in_rows(plane.values)
    rows, columns = coded.shape
    down, across = np.zeros(columns - 5, np.int32), np.zeros(rows - 5, np.int32)
    room = np.empty(columns + 6 * (-(-columns // 3)), np.float32)
    pointers = "void* int64 int64 int64 float32 float32 float32 float32* int32* int32*"
    call = c_function(f"seams_{8 * coded.itemsize}", pointers)
    places = (array.ctypes.data for array in (room, down, across))
    call(coded.ctypes.data, line, rows, columns, plane.scale, plane.offset, least, *places)
    return down, across


class ColourCounts(NamedTuple):
    """How often red, green and blue have each level, 3 × 256."""

    half: Counts
    """In every second row and column."""
    quarter: Counts
    """In every fourth row and column."""
    burnt: int
    """Pixels of `half` with one channel at 250 or more and another at 8 or less."""


def colour_counts(rgb: NDArray[np.uint8]) -> ColourCounts:
    """Count a picture, whichever way it lies."""
    counts, room = np.empty((2, 3, 256), np.int64), np.empty(3 * (-(-rgb.shape[1] // 2)), np.uint8)
    call = c_function("rgb_counts", "uint8* int64 int64 int64 int64 int64 uint8* int64*", "int64")
    burnt = call(rgb.ctypes.data, *rgb.strides, *rgb.shape[:2], room.ctypes.data, counts.ctypes.data)
    return ColourCounts(counts[0], counts[1], burnt)


def yuv_colour_counts(stored: YuvPlanes) -> ColourCounts:
    """The same of the picture that these planes are, which is not made."""
    planes = [in_rows(plane) for plane in stored.planes]
    rows, columns = planes[1][0].shape
    counts, room = np.empty((2, 3, 256), np.int64), np.empty(3 * columns, np.uint8)
    factors = np.array(stored.factors, np.int64)
    pointers = "uint8* int64 uint8* int64 uint8* int64 int64 int64 int64* uint8* int64*"
    call = c_function("yuv_counts", pointers, "int64")
    places = (number for plane, line in planes for number in (plane.ctypes.data, line))
    burnt = call(*places, rows, columns, factors.ctypes.data, room.ctypes.data, counts.ctypes.data)
    return ColourCounts(counts[0], counts[1], burnt)
