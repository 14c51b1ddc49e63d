"""Resizers as tables of taps, one per axis, for resizing on the GPU: equal to the CPU's within float32 rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.resize import Resizer
from rushes.errors import InputError


@dataclass(frozen=True)
class AxisTaps:
    """One axis of a resizer as a table: output i is Σ_k weight[i, k] · input[start[i] + k]."""

    start: NDArray[np.int32]
    weight: NDArray[np.float32]


def axis_taps(size: int, out: int, resizer: Resizer) -> AxisTaps:
    """The table of a squashing resizer along one axis.

    PIL's bicubic: support 2·max(scale, 1) around (i + ½)·scale, a = −½, weights made to add up to 1.
    Bilinear without antialias: the two neighbours of (i + ½)·scale − ½, clamped at the border.
    """
    if resizer == "pil-bicubic-squash":
        return _bicubic_taps(size, out)
    if resizer == "bilinear-squash":
        return _bilinear_taps(size, out)
    raise InputError(f"{resizer} crops, so it is not a table of one axis; it runs on the CPU")


def _bicubic_taps(size: int, out: int) -> AxisTaps:
    scale = size / out
    stretch = max(scale, 1.0)
    centre = (np.arange(out) + 0.5) * scale
    start = np.maximum((centre - 2 * stretch + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + 2 * stretch + 0.5).astype(np.int64), size)
    place = start[:, None] + np.arange(int((end - start).max()))
    weight = np.where(place < end[:, None], _cubic((place - centre[:, None] + 0.5) / stretch), 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    return AxisTaps(start.astype(np.int32), weight.astype(np.float32))


def _cubic(x: NDArray[np.float64], a: float = -0.5) -> NDArray[np.float64]:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _bilinear_taps(size: int, out: int) -> AxisTaps:
    half = np.float32(0.5)  # torch computes the places in float32, and so must the table
    place = np.maximum((np.arange(out, dtype=np.float32) + half) * np.float32(size / out) - half, np.float32(0))
    start = np.minimum(place.astype(np.int64), size - 1)
    far = place - start.astype(np.float32)
    far[start == size - 1] = 0.0
    return AxisTaps(start.astype(np.int32), np.stack([1 - far, far], axis=1).astype(np.float32))
