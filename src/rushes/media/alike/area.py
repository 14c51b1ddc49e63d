"""Averages by area in whole numbers: the same bytes on every machine, wherever a plane lies in memory.

An output pixel is the mean of the rectangle of source pixels that it covers, those at its rim by the share of them that
it covers; beyond the source lies black. OpenCV's INTER_AREA weighs with floats, which are rounded along the way.

With the picture scaled by p/q, output pixel j of `size` covers, in units of 1/(2p) source pixels, the stretch from
n·p − size·q + 2·j·q to that of j + 1: the source's n pixels stand in the middle. All of these are whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.media.luma import LumaPlane
from rushes.native import c_function, in_rows

Levels = NDArray[np.uint8]


class AxisWeights(NamedTuple):
    """Along one axis: which source pixels an output pixel covers, and how much of each."""

    first: NDArray[np.int64]
    """First source pixel, by output pixel."""
    start: NDArray[np.int64]
    """Where its weights start in `weights`; one entry more than there are output pixels."""
    weights: NDArray[np.uint32]
    inside: NDArray[np.int64]
    """Sum of its weights; less than `whole` where it reaches beyond the source."""
    whole: int
    """What the weights of a pixel inside the source add up to."""


def axis_weights(source: int, size: int, scale: Fraction) -> AxisWeights:
    """The weights of `size` output pixels over the middle of `source` pixels, for a scale of at most 1.

    >>> w = axis_weights(5, 2, Fraction(1, 2))
    >>> w.first.tolist(), w.weights.tolist(), w.whole
    ([0, 2], [1, 2, 1, 1, 2, 1], 4)
    """
    p, q = scale.numerator, scale.denominator
    edges = source * p - size * q + 2 * q * np.arange(size + 1, dtype=np.int64)
    pixels = 2 * p * np.arange(source + 1, dtype=np.int64)
    low, high = (np.clip(edge, 0, pixels[-1]) for edge in (edges[:-1], edges[1:]))
    first, last = low // (2 * p), -(-high // (2 * p))
    rows = [
        np.minimum(pixels[a + 1 : b + 1], end) - np.maximum(pixels[a:b], begin)
        for a, b, begin, end in zip(first, last, low, high, strict=True)
    ]
    start = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return AxisWeights(first, start, np.concatenate(rows).astype(np.uint32), high - low, 2 * q)


class AreaGrid:
    """Averages planes of one size onto one grid."""

    def __init__(self, source: tuple[int, int], size: tuple[int, int], scale: Fraction) -> None:
        """`source` and `size` are width and height; `scale` is what the picture's sides are multiplied by."""
        self.columns = axis_weights(source[0], size[0], scale)
        self.rows = axis_weights(source[1], size[1], scale)

    def luma(self, plane: LumaPlane, values: NDArray[Any]) -> Levels:
        """Luma of 8 bits on the full 0–255 scale, halves up, clipped; `values` are the plane's, upright."""
        return self._averaged(values, offset=int(plane.offset), span=round(255 / plane.scale))

    def rgb(self, picture: NDArray[np.uint8]) -> Levels:
        """H × W × 3, each channel averaged by itself."""
        channels = [self._averaged(picture[..., channel], offset=0, span=255) for channel in range(3)]
        return np.stack(channels, axis=-1)

    def _averaged(self, values: NDArray[Any], *, offset: int, span: int) -> Levels:
        """⌊255 · (mean − offset) / span + ½⌋: `offset` and `span` are the codes of black, and from black to white."""
        out = np.empty((len(self.rows.first), len(self.columns.first)), np.uint8)
        if values.dtype != np.uint8:
            values = values.astype(np.uint16, copy=False)
        plane, line = in_rows(values)
        sums = np.empty(plane.shape[1], np.uint32)
        axis = "int64* int64* uint32* int64* int64"
        call = c_function("area", f"void* int64 int64 int64 {axis} {axis} int64 int64 int64 int64 uint32* uint8*")
        rows, columns = ((*(one.ctypes.data for one in side[:-1]), side.whole) for side in (self.rows, self.columns))
        source = plane.ctypes.data, line, plane.itemsize > 1, plane.shape[1]
        call(*source, *rows, *columns, offset, span, *out.shape, sums.ctypes.data, out.ctypes.data)
        return out
