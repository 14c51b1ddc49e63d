"""How much fine detail a plane holds at one reference height, whatever size the clip has.

A blur of one pixel takes most of the gradient of a sharp picture away, and little of a picture that is blurred already.
The share is free of contrast and of the luma's range. The sums are integers: the same on every processor.
"""

from __future__ import annotations

from typing import Any, cast

import cv2
import numpy as np

from rushes.instruments.clip.frames.luma_sums import Plane
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.media.numba_cache import kernel

HEIGHT = 192
"""Rows a taller plane is reduced to. At 192 a film that was never sharp at 1080 rows is, as it looks when watched."""
FAINT = 0.25
"""A mean squared gradient (levels² on 0–255) below which a plane has nothing that could be sharp."""


def detail(plane: Plane, *, scale: float = 1.0) -> float:
    """1 − E(b) / E(g): the share of gradient energy that a binomial blur takes away; NaN where there is no gradient.

    g is the plane at `HEIGHT` rows (by area; a smaller plane as it is), b = g filtered by [1 4 6 4 1] / 16 along both
    axes (a Gaussian of one pixel), E the sum of squared differences of neighbours along both axes, borders left out.
    `scale` turns coded values into levels on 0–255; it decides only whether there is any gradient.

    >>> columns = np.tile(np.array([0, 200], np.uint8), (40, 20))
    >>> detail(columns)
    1.0
    """
    small = on_one_thread(lambda: reduced(plane))
    if min(small.shape) < 8:
        return float("nan")
    sharp, blurred = _kernel()(small)
    faint = FAINT * small.size / scale**2
    return float("nan") if sharp < faint else 1.0 - blurred / (65536.0 * sharp)


def reduced(plane: Plane) -> Plane:
    """The plane at `HEIGHT` rows and its own aspect, by area; one that is no taller, as it is."""
    height, width = plane.shape
    while height >= 2 * HEIGHT and height % 2 == 0 and width % 2 == 0:  # halving is fast, and the same average
        height, width = height // 2, width // 2
        plane = _resized(plane, width, height)
    if height <= HEIGHT:
        return cast("Plane", np.ascontiguousarray(plane))
    return _resized(plane, max(2, round(width * HEIGHT / height)), HEIGHT)


def _resized(plane: Plane, width: int, height: int) -> Plane:
    return cast("Plane", cv2.resize(plane, (width, height), interpolation=cv2.INTER_AREA))


def _energies(g: Any) -> Any:
    """(E of the plane, 65536 · E of the blurred plane), over the inner rectangle that both cover."""
    h, w = g.shape
    across = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(2, w - 2):
            across[i, j] = (
                np.int32(g[i, j - 2])
                + np.int32(4) * np.int32(g[i, j - 1])
                + np.int32(6) * np.int32(g[i, j])
                + np.int32(4) * np.int32(g[i, j + 1])
                + np.int32(g[i, j + 2])
            )
    blurred = np.zeros((h, w), np.int32)
    for i in range(2, h - 2):
        for j in range(2, w - 2):
            blurred[i, j] = (
                across[i - 2, j]
                + np.int32(4) * across[i - 1, j]
                + np.int32(6) * across[i, j]
                + np.int32(4) * across[i + 1, j]
                + across[i + 2, j]
            )
    sharp = 0.0
    soft = 0.0
    for i in range(2, h - 3):
        row_sharp = np.int64(0)
        row_soft = np.int64(0)
        for j in range(2, w - 3):
            right = np.int64(g[i, j + 1]) - np.int64(g[i, j])
            down = np.int64(g[i + 1, j]) - np.int64(g[i, j])
            row_sharp += right * right + down * down
            right_blurred = blurred[i, j + 1] - blurred[i, j]
            down_blurred = blurred[i + 1, j] - blurred[i, j]
            row_soft += right_blurred * right_blurred + down_blurred * down_blurred
        sharp += row_sharp
        soft += row_soft
    return sharp, soft


_kernel = kernel(_energies)
