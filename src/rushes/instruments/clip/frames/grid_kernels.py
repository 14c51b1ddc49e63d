"""Sums over the blocks of pictures: loops in C, with the same bytes as NumPy's, and none of its arrays in between."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function, in_rows

Floats = NDArray[np.float64]


def square_sums(rows: Floats, others: Floats) -> Floats:
    """Σ (a − b)² of each row of whole numbers and its counterpart, or of each row and the one that `others` is."""
    (one, line), (other, other_line) = in_rows(rows), in_rows(np.atleast_2d(others))
    found = np.empty(len(one))
    call = c_function("square_sums", "float64* int64 float64* int64 int64 int64 float64*")
    places = one.ctypes.data, line, other.ctypes.data, other_line if others.ndim > 1 else 0
    call(*places, *one.shape, found.ctypes.data)
    return found


def largest_ahead(rows: Floats, most: int) -> Floats:
    """Of each row of whole numbers but the last `most` the largest Σ (a − b)² against the 1 to `most` rows after it."""
    values = np.ascontiguousarray(rows)
    found = np.empty(max(0, len(values) - most))
    call = c_function("largest_ahead", "float64* int64 int64 int64 float64*")
    call(values.ctypes.data, *values.shape, most, found.ctypes.data)
    return found


def dot_products(rows: Floats) -> Floats:
    """Σ a b of all pairs of rows of whole numbers. NumPy's product would be made on all cores, which workers share."""
    values = np.ascontiguousarray(rows)
    found = np.empty((len(values), len(values)))
    c_function("dot_products", "float64* int64 int64 float64*")(values.ctypes.data, *values.shape, found.ctypes.data)
    return found


def correlation_sums(before: Any, after: Any) -> tuple[Floats, Floats]:
    """Σ a b and Σ a² · Σ b² of each pair of rows, both less their means."""
    one, other = (np.ascontiguousarray(rows, np.float64) for rows in (before, after))
    found, room = np.empty((2, len(one))), np.empty(2 * one.shape[1])
    call = c_function("correlation_sums", "float64* float64* int64 int64 float64* float64* float64*")
    places = room.ctypes.data, found[0].ctypes.data, found[1].ctypes.data
    call(one.ctypes.data, other.ctypes.data, *one.shape, *places)
    return found[0], found[1]


def lagged_means(before: Floats, after: Floats, lags: range) -> Floats:
    """Mean of the products of all values of one series of rows with those of another, so many rows later."""
    one, other = (np.ascontiguousarray(rows) for rows in (before, after))
    found = np.empty(len(lags))
    call = c_function("lagged_means", "float64* float64* int64 int64 int64 int64 float64*")
    call(one.ctypes.data, other.ctypes.data, *one.shape, lags.start, len(lags), found.ctypes.data)
    return found


def region_moves(pictures: NDArray[np.float32], regions: tuple[int, int], faint: float) -> Floats:
    """The least-squares displacement of so many rows and columns of regions from each picture to the next.

    Steps × rows × columns × (down, right), in blocks, by the gradient of the mean of both pictures (`numpy.gradient`);
    `faint` is added to its square per block.
    """
    luma = np.ascontiguousarray(pictures)
    steps, height, width = len(luma) - 1, *luma.shape[1:]
    rows, columns = (min(count, max(1, side // 2)) for count, side in zip(regions, (height, width), strict=True))
    found, room = np.empty((steps, rows, columns, 2)), np.empty(7 * height * width)
    call = c_function("region_moves", "float32* int64 int64 int64 int64 int64 float64 float64* float64*")
    call(luma.ctypes.data, steps, height, width, rows, columns, faint, room.ctypes.data, found.ctypes.data)
    return found
