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

HEIGHT = 192
"""Rows a taller plane is reduced to. At 192 a film that was never sharp at 1080 rows is, as it looks when watched."""
FAINT = 0.25
"""A mean squared gradient (levels² on 0–255) below which a plane has nothing that could be sharp."""
_BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32)


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
    # Sums of at most 256 values of 16 bits are exact in 32-bit floats.
    sharp, blurred = _energy(small), _energy(cv2.sepFilter2D(small, cv2.CV_32F, _BINOMIAL, _BINOMIAL))
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


def _energy(plane: Any) -> float:
    """Sum of squared differences of neighbours along both axes, borders of two pixels left out.

    OpenCV adds whole numbers up in doubles: exact below 2⁵³, which planes of 8 and 10 bits do not reach.
    """
    inner = plane[2:-2, 2:-2]
    across = cv2.norm(inner[:-1, 1:], inner[:-1, :-1], cv2.NORM_L2SQR)
    return float(across + cv2.norm(inner[1:, :-1], inner[:-1, :-1], cv2.NORM_L2SQR))
