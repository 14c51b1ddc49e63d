"""Everything tier 0 needs from a luma plane, as exact integers, in one walk over the memory.

The sums are integers, so the result does not depend on the processor, the number of threads or the order of addition;
scaling to the full 0–255 range happens later, on the aggregates. A kernel that numba compiles is the quickest, once
numba is loaded, which takes as long as some ninety clips. OpenCV has the same sums without it, so a process begins with
OpenCV and goes over to the kernel when it has seen so much that loading numba would have paid, or when `warm` was
called. `reference_sums` says the same in numpy, slowly; a test holds all of them equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.media.numba_cache import kernel

_NARROW = 4096
_PAYS_FROM = 1_700_000_000
"""8-bit pixels after which numba is loaded: OpenCV takes 0.18 ns more for each, and numba 0.31 s to load."""
_seen = 0
"""8-bit pixels summed by this process so far."""

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


def luma_sums(plane: Plane, previous: Plane | None) -> LumaSums:
    """Sum one plane against the one before it (same shape; None for the first).

    A plane less than 2 pixels wide or high has no Laplacian: both its sums are 0.
    """
    if min(plane.shape) < 2:
        return reference_sums(plane, previous)
    against = plane if previous is None else previous
    if plane.dtype == against.dtype == np.uint8 and not _pays(plane.size):
        return opencv_sums(plane, against)
    return compiled_sums(plane, against)


def warm() -> None:
    """Load the kernel for 8-bit planes now, in all layouts they come in: for a process that will see many."""
    global _seen
    _seen = _PAYS_FROM
    plane = np.zeros((4, 8), np.uint8)
    for sight in (plane, plane[:, :4]):
        compiled_sums(sight, sight)


def _pays(pixels: int) -> bool:
    global _seen
    _seen += pixels
    return _seen > _PAYS_FROM


def compiled_sums(plane: Plane, previous: Plane) -> LumaSums:
    """The same as `luma_sums`, by numba, of two planes of 2 × 2 pixels or more."""
    narrow = plane.dtype == np.uint8 and plane.shape[1] <= _NARROW
    total, difference, laplacian, squared = (_narrow if narrow else _wide)()(plane, previous)
    return LumaSums(int(total), int(difference), int(laplacian), int(squared))


def opencv_sums(plane: Plane, previous: Plane) -> LumaSums:
    """The same as `luma_sums`, by OpenCV, of two 8-bit planes of 2 × 2 pixels or more.

    With c the pixel and a₁ … a₄ its neighbours, L = Σ (aᵢ − c), so L² = 4 Σ (aᵢ − c)² − Σ_{i<j} (aᵢ − aⱼ)²: sums of
    squared differences of shifted planes, whole numbers below 2⁵³, of which OpenCV may miss the last bit of a double.
    """
    inner = cv2.copyMakeBorder(plane, 1, 1, 1, 1, cv2.BORDER_REFLECT_101)
    centre, up, down = inner[1:-1, 1:-1], inner[:-2, 1:-1], inner[2:, 1:-1]
    left, right = inner[1:-1, :-2], inner[1:-1, 2:]
    near = ((up, centre), (down, centre), (left, centre), (right, centre))
    far = ((up, down), (left, right), (up, left), (up, right), (down, left), (down, right))
    # Second differences telescope, so Σ L needs only the outermost two lines of each side.
    rows = plane[[0, 1, -2, -1]].sum(axis=1, dtype=np.int64)
    columns = plane[:, [0, 1, -2, -1]].sum(axis=0, dtype=np.int64)
    return LumaSums(
        total=round(cv2.sumElems(plane)[0]),
        difference=absolute_difference(plane, previous),
        laplacian=int((rows + columns) @ _TELESCOPE),
        laplacian_squared=4 * _squares(near) - _squares(far),
    )


def absolute_difference(plane: Plane, previous: Plane) -> int:
    """Σ |Y − Y_previous| alone."""
    if plane.dtype != previous.dtype:  # the depth changes within the clip
        return luma_sums(plane, previous).difference
    return round(cv2.norm(plane, previous, cv2.NORM_L1))


def _squares(pairs: Iterable[tuple[Any, Any]]) -> int:
    """Σ (a − b)² over the pixels of all pairs."""
    return sum(round(cv2.norm(one, other, cv2.NORM_L2SQR)) for one, other in pairs)


_TELESCOPE = np.array([-1, 1, 1, -1])


def reference_sums(plane: Plane, previous: Plane | None) -> LumaSums:
    """The same as `luma_sums`, written for reading."""
    wide = plane.astype(np.int64)
    difference = 0 if previous is None else int(np.abs(wide - previous.astype(np.int64)).sum())
    if min(plane.shape) < 2:
        return LumaSums(int(wide.sum()), difference, 0, 0)
    p = np.pad(wide, 1, mode="reflect")
    laplacian = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * wide
    return LumaSums(int(wide.sum()), difference, int(laplacian.sum()), int((laplacian**2).sum()))


def _narrow_sums(y: Any, previous: Any) -> Any:
    """For 8-bit planes of ordinary width, in 16- and 32-bit lanes, which lets the compiler fill the vector unit.

    |L| is at most 1020, so a row's Σ L² stays below 2³² for rows of up to `_NARROW` pixels.
    """
    h, w = y.shape
    total = np.int64(0)
    difference = np.int64(0)
    laplacian = np.int64(0)
    squared = np.int64(0)
    for i in range(h):
        up = i - 1 if i > 0 else 1
        down = i + 1 if i < h - 1 else h - 2
        row_total = np.uint32(0)
        row_difference = np.uint32(0)
        for j in range(w):
            row_total = np.uint32(row_total + np.uint32(y[i, j]))
            row_difference = np.uint32(
                row_difference + np.uint32(abs(np.int16(np.int16(y[i, j]) - np.int16(previous[i, j]))))
            )
        total += row_total
        difference += row_difference
        # Second differences telescope, so Σ L needs only the outermost two lines of each side.
        lines = (1 if i == 1 else 0) - (1 if i == 0 else 0) + (1 if i == h - 2 else 0) - (1 if i == h - 1 else 0)
        laplacian += lines * np.int64(row_total)
        laplacian += np.int64(y[i, 1]) - np.int64(y[i, 0]) + np.int64(y[i, w - 2]) - np.int64(y[i, w - 1])
        row_squared = np.uint32(0)
        for j in range(1, w - 1):
            value = np.int16(
                np.int16(y[up, j])
                + np.int16(y[down, j])
                + np.int16(y[i, j - 1])
                + np.int16(y[i, j + 1])
                - np.int16(4) * np.int16(y[i, j])
            )
            row_squared = np.uint32(row_squared + np.uint32(np.int32(value) * np.int32(value)))
        squared += row_squared
        left = np.int64(y[up, 0]) + np.int64(y[down, 0]) + 2 * np.int64(y[i, 1]) - 4 * np.int64(y[i, 0])
        right = (
            np.int64(y[up, w - 1]) + np.int64(y[down, w - 1]) + 2 * np.int64(y[i, w - 2]) - 4 * np.int64(y[i, w - 1])
        )
        squared += left * left + right * right
    return total, difference, laplacian, squared


def _wide_sums(y: Any, previous: Any) -> Any:
    """For any plane, in 64-bit lanes."""
    h, w = y.shape
    total = np.int64(0)
    difference = np.int64(0)
    laplacian = np.int64(0)
    squared = np.int64(0)
    for i in range(h):
        up = i - 1 if i > 0 else 1
        down = i + 1 if i < h - 1 else h - 2
        for j in range(w):
            total += np.int64(y[i, j])
            difference += abs(np.int64(y[i, j]) - np.int64(previous[i, j]))
            before = j - 1 if j > 0 else 1
            after = j + 1 if j < w - 1 else w - 2
            value = (
                np.int64(y[up, j])
                + np.int64(y[down, j])
                + np.int64(y[i, before])
                + np.int64(y[i, after])
                - 4 * np.int64(y[i, j])
            )
            laplacian += value
            squared += value * value
    return total, difference, laplacian, squared


_narrow, _wide = kernel(_narrow_sums), kernel(_wide_sums)
