"""Everything tier 0 needs from a luma plane, as exact integers, in one walk over the memory.

The sums are integers, so the result does not depend on the processor, the number of threads or the order of addition;
scaling to the full 0–255 range happens later, on the aggregates. A kernel that numba compiles is the quickest, once
numba is loaded, which takes as long as some five clips. OpenCV has the same sums without it, so a process begins with
OpenCV and goes over to the kernel when it has seen so much that loading numba would have paid, or when `warm` was
called. `reference_sums` says the same in numpy, slowly; a test holds all of them equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.media.numba_cache import kernel

_NARROW = 4096
_LINES = 256
"""Rows whose 8-bit values add up to less than 2¹⁶."""
_PAYS_FROM = 130_000_000
"""8-bit pixels after which numba is loaded: all sums by OpenCV take 2.4 ns more for each, and numba 0.31 s to load."""
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
    if min(plane.shape) < 2:
        return reference_sums(plane, previous, edges, textured)
    against = plane if previous is None else previous
    if plane.dtype == against.dtype == np.uint8 and not _pays(plane.size):
        return opencv_sums(plane, against, edges, textured)
    return compiled_sums(plane, against, edges, textured)


def warm() -> None:
    """Load the kernel for 8-bit planes now, in all layouts they come in: for a process that will see many."""
    global _seen
    _seen = _PAYS_FROM + 1
    plane = np.zeros((4, 8), np.uint8)
    for sight in (plane, plane[:, :4]):
        compiled_sums(sight, sight, BlockEdges.of(sight.shape, (1, 1)), False)


def _pays(pixels: int) -> bool:
    global _seen
    _seen += pixels
    return is_warm()


def is_warm() -> bool:
    """Whether this process has seen so much that the kernel pays."""
    return _seen > _PAYS_FROM


def compiled_sums(plane: Plane, previous: Plane, edges: BlockEdges, textured: bool) -> FrameSums:
    """The same as `frame_sums`, by numba, of two planes of 2 × 2 pixels or more."""
    narrow = plane.dtype == np.uint8 and plane.shape[1] <= _NARROW
    blocks, *whole = (_narrow if narrow else _wide)()(plane, previous, edges.rows, edges.columns, textured)
    return FrameSums(LumaSums(*whole), blocks)


def _with_blocks(blocks: NDArray[np.int64], laplacian: int, squared: int) -> FrameSums:
    return FrameSums(LumaSums(int(blocks[0].sum()), int(blocks[1].sum()), laplacian, squared), blocks)


def opencv_sums(plane: Plane, previous: Plane, edges: BlockEdges, textured: bool) -> FrameSums:
    """The same as `frame_sums`, by OpenCV, of two 8-bit planes of 2 × 2 pixels or more.

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
    blocks = np.zeros((3, len(edges.rows) - 1, len(edges.columns) - 1), np.int64)
    blocks[0], blocks[1] = block_sums(plane, edges), block_sums(cv2.absdiff(plane, previous), edges)
    if textured:
        blocks[2] = block_sums(_to_the_right(plane), edges)
    return _with_blocks(blocks, int((rows + columns) @ _TELESCOPE), 4 * _squares(near) - _squares(far))


def block_sums(plane: Any, edges: BlockEdges) -> NDArray[np.int64]:
    """Σ over each block of an 8-bit plane, by OpenCV."""
    rows = edges.rows.tolist()
    spans = list(zip(rows, rows[1:], strict=False))
    lines = on_one_thread(lambda: [cv2.reduce(plane[a:b], 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S) for a, b in spans])
    return np.add.reduceat(np.concatenate(lines).astype(np.int64), edges.columns[:-1], axis=1)


def _to_the_right(plane: Any) -> Any:
    """|Y − its right neighbour|, 0 in the last column."""
    return cv2.copyMakeBorder(cv2.absdiff(plane[:, 1:], plane[:, :-1]), 0, 0, 0, 1, cv2.BORDER_CONSTANT)


def absolute_difference(plane: Plane, previous: Plane) -> int:
    """Σ |Y − Y_previous| alone."""
    if plane.dtype != previous.dtype:  # the depth changes within the clip
        return luma_sums(plane, previous).difference
    return round(cv2.norm(plane, previous, cv2.NORM_L1))


def _squares(pairs: Iterable[tuple[Any, Any]]) -> int:
    """Σ (a − b)² over the pixels of all pairs."""
    return sum(round(cv2.norm(one, other, cv2.NORM_L2SQR)) for one, other in pairs)


_TELESCOPE = np.array([-1, 1, 1, -1])


def reference_sums(plane: Plane, previous: Plane | None, edges: BlockEdges, textured: bool) -> FrameSums:
    """The same as `frame_sums`, written for reading."""
    wide = plane.astype(np.int64)
    change = np.zeros_like(wide) if previous is None else np.abs(wide - previous.astype(np.int64))
    texture = np.abs(np.diff(wide, axis=1, append=wide[:, -1:])) * textured
    blocks = np.array([_reference_blocks(values, edges) for values in (wide, change, texture)])
    if min(plane.shape) < 2:
        return _with_blocks(blocks, 0, 0)
    p = np.pad(wide, 1, mode="reflect")
    laplacian = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * wide
    return _with_blocks(blocks, int(laplacian.sum()), int((laplacian**2).sum()))


def _reference_blocks(values: NDArray[np.int64], edges: BlockEdges) -> NDArray[np.int64]:
    rows = np.add.reduceat(values, edges.rows[:-1], axis=0)
    return np.asarray(np.add.reduceat(rows, edges.columns[:-1], axis=1))


def _narrow_sums(y: Any, previous: Any, rows: Any, columns: Any, textured: Any) -> Any:
    """For 8-bit planes of ordinary width, in 16- and 32-bit lanes, which lets the compiler fill the vector unit.

    Columns are added up over at most `_LINES` rows, so that 16 bits hold them, and then into blocks. |L| is at most
    1020, so a row's Σ L² stays below 2³² for rows of up to `_NARROW` pixels. Everything is taken of a row while the
    processor has it at hand.
    """
    h, w = y.shape
    blocks = np.zeros((3, rows.size - 1, columns.size - 1), np.int64)
    total = np.int64(0)
    difference = np.int64(0)
    laplacian = np.int64(0)
    squared = np.int64(0)
    light = np.zeros(w, np.uint16)
    change = np.zeros(w, np.uint16)
    texture = np.zeros(w, np.uint16)
    for b in range(rows.size - 1):
        for start in range(rows[b], rows[b + 1], _LINES):
            light[:] = 0
            change[:] = 0
            texture[:] = 0
            for i in range(start, min(start + _LINES, rows[b + 1])):
                up = i - 1 if i > 0 else 1
                down = i + 1 if i < h - 1 else h - 2
                for j in range(w):
                    light[j] = np.uint16(light[j] + np.uint16(y[i, j]))
                    change[j] = np.uint16(
                        change[j] + np.uint16(abs(np.int16(np.int16(y[i, j]) - np.int16(previous[i, j]))))
                    )
                if textured:
                    for j in range(w - 1):
                        texture[j] = np.uint16(
                            texture[j] + np.uint16(abs(np.int16(np.int16(y[i, j + 1]) - np.int16(y[i, j]))))
                        )
                # Second differences telescope, so Σ L needs only the outermost two lines of each side.
                lines = (
                    (1 if i == 1 else 0) - (1 if i == 0 else 0) + (1 if i == h - 2 else 0) - (1 if i == h - 1 else 0)
                )
                if lines != 0:
                    row_total = np.uint32(0)
                    for j in range(w):
                        row_total = np.uint32(row_total + np.uint32(y[i, j]))
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
                right = np.int64(y[up, w - 1]) + np.int64(y[down, w - 1])
                right += 2 * np.int64(y[i, w - 2]) - 4 * np.int64(y[i, w - 1])
                squared += left * left + right * right
            for c in range(columns.size - 1):
                lights = np.uint32(0)
                changes = np.uint32(0)
                textures = np.uint32(0)
                for j in range(columns[c], columns[c + 1]):
                    lights = np.uint32(lights + light[j])
                    changes = np.uint32(changes + change[j])
                    textures = np.uint32(textures + texture[j])
                blocks[0, b, c] += lights
                blocks[1, b, c] += changes
                blocks[2, b, c] += textures
                total += lights
                difference += changes
    return blocks, total, difference, laplacian, squared


def _wide_sums(y: Any, previous: Any, rows: Any, columns: Any, textured: Any) -> Any:
    """For any plane, in 64-bit lanes."""
    h, w = y.shape
    blocks = np.zeros((3, rows.size - 1, columns.size - 1), np.int64)
    total = np.int64(0)
    difference = np.int64(0)
    laplacian = np.int64(0)
    squared = np.int64(0)
    for b in range(rows.size - 1):
        for c in range(columns.size - 1):
            for i in range(rows[b], rows[b + 1]):
                for j in range(columns[c], columns[c + 1]):
                    blocks[0, b, c] += np.int64(y[i, j])
                    blocks[1, b, c] += abs(np.int64(y[i, j]) - np.int64(previous[i, j]))
                    if textured and j < w - 1:
                        blocks[2, b, c] += abs(np.int64(y[i, j + 1]) - np.int64(y[i, j]))
            total += blocks[0, b, c]
            difference += blocks[1, b, c]
    for i in range(h):
        up = i - 1 if i > 0 else 1
        down = i + 1 if i < h - 1 else h - 2
        for j in range(w):
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
    return blocks, total, difference, laplacian, squared


_narrow, _wide = kernel(_narrow_sums), kernel(_wide_sums)
