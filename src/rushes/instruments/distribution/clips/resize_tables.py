"""Resizers as tables of taps, one per axis, which a device can follow.

Output i of an axis is Σ_k weight[i, k] · input[start[i] + k], summed in double precision and rounded to float32, the
width first and then the height, as PIL does it. PIL's bicubic comes out bit for bit (a Pillow that takes the height of
a tall picture first rounds the last bit otherwise), torch's bilinear within one float32 rounding per axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.distribution.clips.preparation import Resizer, legacy_places, short_side


@dataclass(frozen=True, slots=True)
class AxisTaps:
    """One axis of a resizer: `start` (out,) and `weight` (out, taps); past the border the last pixel stands in."""

    start: NDArray[np.int64]
    weight: NDArray[np.float64]

    def part(self, first: int, count: int) -> AxisTaps:
        """The table of a crop."""
        return AxisTaps(self.start[first : first + count], self.weight[first : first + count])


def axis_tables(resizer: Resizer, height: int, width: int, size: int) -> tuple[AxisTaps, AxisTaps] | None:
    """The tables of height and width for frames of one size; None for a resizer that is no such pair of tables.

    `bilinear-aa256up-uint8` is none: it cuts to whole numbers half-way, and there the last bit of a sum decides.
    """
    whole = {
        "pil-bicubic-squash": _bicubic,
        "bilinear-squash": _bilinear,
        "tf1-bilinear-squash": _legacy_bilinear,
    }
    if (table := whole.get(resizer)) is not None:
        return table(height, size), table(width, size)
    if resizer == "bilinear-short-crop":
        tall, wide = short_side(height, width, size)
        rows, columns = _bilinear(height, tall), _bilinear(width, wide)
        return rows.part((tall - size) // 2, size), columns.part((wide - size) // 2, size)
    return None


def _bicubic(size: int, out: int) -> AxisTaps:
    """PIL's: support 2·max(scale, 1) around (i + ½)·scale, a = −½, weights made to add up to 1."""
    scale = size / out
    stretch = max(scale, 1.0)
    centre = (np.arange(out) + 0.5) * scale
    start = np.maximum((centre - 2 * stretch + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + 2 * stretch + 0.5).astype(np.int64), size)
    place = start[:, None] + np.arange(int((end - start).max()))
    weight = np.where(place < end[:, None], _cubic((place - centre[:, None] + 0.5) * (1.0 / stretch)), 0.0)
    total = np.cumsum(weight, axis=1)[:, -1:]  # one after the other, as PIL adds them
    return AxisTaps(start, weight / total)


def _cubic(x: NDArray[np.float64], a: float = -0.5) -> NDArray[np.float64]:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _bilinear(size: int, out: int) -> AxisTaps:
    """The two neighbours of (i + ½)·scale − ½, clamped at the border; torch rounds the place once, to float32."""
    exact = (np.arange(out) + 0.5) * np.float64(np.float32(size / out)) - 0.5
    place = np.maximum(exact.astype(np.float32), np.float32(0))
    start = np.minimum(place.astype(np.int64), size - 1)
    far = place - start.astype(np.float32)
    far[start == size - 1] = 0.0
    return AxisTaps(start, _shares(far))


def _legacy_bilinear(size: int, out: int) -> AxisTaps:
    """The two neighbours of i·scale: TensorFlow 1, without half-pixel centres."""
    lower, _, far = legacy_places(size, out)
    return AxisTaps(lower.astype(np.int64), _shares(far))


def _shares(far: NDArray[np.float32]) -> NDArray[np.float64]:
    """Weights of the near and the far neighbour."""
    return np.stack([1 - far.astype(np.float64), far.astype(np.float64)], axis=1)
