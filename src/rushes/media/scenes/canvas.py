"""What the scenes share: the grid they are drawn on, soft edges, and mixing of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.floating[Any]]
Colours = NDArray[np.floating[Any]]
Rgb = Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """Pixel centres in units of the height: x runs from −aspect/2 to aspect/2, y from 0 (top) to 1."""

    x: Plane
    y: Plane
    pixel: float
    """Size of a pixel: edges are softened over one."""


@lru_cache(maxsize=8)
def canvas(width: int, height: int) -> Canvas:
    """The grid for a frame of this size."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    return Canvas((columns + 0.5 - width / 2) / height, (rows + 0.5) / height, 1 / height)


def unit(values: Plane) -> Plane:
    """Held between 0 and 1."""
    held: Plane = np.clip(values, 0, 1)
    return held


def edge(distance: Plane, pixel: float) -> Plane:
    """1 inside, 0 outside a shape with this signed distance (negative inside), softened over a pixel."""
    return unit(0.5 - distance / pixel)


def mix(under: Colours, over: Rgb | Colours, share: Plane | float) -> Colours:
    """`over` laid on `under`, `share` of it."""
    part = np.asarray(share, np.float32)[..., np.newaxis]
    return under + (np.asarray(over, np.float32) - under) * part


def between(low: Rgb, high: Rgb | Colours, share: Plane) -> Colours:
    """A colour from `low` (share 0) to `high` (share 1), for every pixel."""
    return mix(np.asarray(low, dtype=np.float32), high, unit(share))


def disc(on: Canvas, centre: tuple[float, float], radius: float) -> Plane:
    """Signed distance to a circle."""
    away: Plane = np.hypot(on.x - centre[0], on.y - centre[1])
    return away - radius


def limb(on: Canvas, start: tuple[float, float], end: tuple[float, float], radius: float) -> Plane:
    """Signed distance to a bar with round ends."""
    (ax, ay), (bx, by) = start, end
    length = (bx - ax) ** 2 + (by - ay) ** 2 or 1.0
    along = np.clip(((on.x - ax) * (bx - ax) + (on.y - ay) * (by - ay)) / length, 0, 1)
    return np.hypot(on.x - ax - along * (bx - ax), on.y - ay - along * (by - ay)) - radius
