"""Everything tier 0 needs from a luma plane, as exact integers, in one walk over the memory.

The sums are integers, so the result does not depend on the processor, the number of threads or the order of addition;
scaling to the full 0–255 range happens later, on the aggregates.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function, in_rows

Plane = NDArray[np.uint8] | NDArray[np.uint16]


class LumaSums(NamedTuple):
    """Sums over one plane of coded values."""

    total: int
    """Σ Y."""
    difference: int
    """Σ |Y − Y_previous|; 0 where there is no previous frame."""
    laplacian: int
    """Σ L, with L the 4-neighbour Laplacian, borders reflected without repeating the edge (OpenCV's default)."""
    laplacian_squared: int
    """Σ L²."""


class BlockEdges(NamedTuple):
    """Where a plane is cut into blocks: the first line of each, and the end of the last."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, plane: tuple[int, ...], grid: tuple[int, int]) -> BlockEdges:
        """A plane of this shape in so many blocks, as equal as whole lines allow.

        >>> BlockEdges.of((5, 4), (2, 2)).rows.tolist()
        [0, 2, 5]
        """
        return cls(*(np.arange(blocks + 1) * length // blocks for blocks, length in zip(grid, plane[:2], strict=True)))


class FrameSums(NamedTuple):
    """The sums over a plane, and of three of its kind over each block."""

    whole: LumaSums
    blocks: NDArray[np.int64]
    """3 × rows × columns: Σ Y, Σ |Y − Y_previous|, and Σ |Y − its right neighbour|, which is 0 unless asked for."""


def luma_sums(plane: Plane, previous: Plane | None) -> LumaSums:
    """Sum one plane against the one before it (same shape; None for the first).

    A plane less than 2 pixels wide or high has no Laplacian: both its sums are 0.
    """
    return frame_sums(plane, previous, BlockEdges.of(plane.shape, (1, 1))).whole


def frame_sums(plane: Plane, previous: Plane | None, edges: BlockEdges, textured: bool = False) -> FrameSums:
    """The same with the sums over blocks; the last column has no right neighbour."""
    against = plane if previous is None else previous
    narrow = plane.dtype == against.dtype == np.uint8
    (now, line), (before, before_line) = (in_rows(one if narrow else one.astype(np.uint16)) for one in (plane, against))
    cut = [np.ascontiguousarray(side) for side in edges]
    blocks, sums = np.zeros((3, len(cut[0]) - 1, len(cut[1]) - 1), np.int64), np.empty(4, np.int64)
    room = np.empty(room_bytes(plane.shape[1], now.itemsize), np.uint8)
    sides = (number for side in cut for number in (side.ctypes.data, len(side) - 1))
    places = (array.ctypes.data for array in (room, blocks, sums))
    pointers = "void* int64 void* int64 int64 int64 int64* int64 int64* int64 void* int64* int64* int64"
    call = c_function(f"plane_sums_{8 * now.itemsize}", pointers)
    call(now.ctypes.data, line, before.ctypes.data, before_line, *plane.shape, *sides, *places, textured)
    return FrameSums(LumaSums(*sums.tolist()), blocks)


def room_bytes(width: int, itemsize: int = 1) -> int:
    """What the loops over a plane need for lines of their own: seven, in numbers twice as wide."""
    return 64 + 7 * (width + 96) * 2 * itemsize


def absolute_difference(plane: Plane, previous: Plane) -> int:
    """Σ |Y − Y_previous| alone."""
    if plane.dtype != previous.dtype:  # the depth changes within the clip
        return luma_sums(plane, previous).difference
    return round(cv2.norm(plane, previous, cv2.NORM_L1))
