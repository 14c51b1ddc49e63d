"""Lengths that poses are measured with: joint errors, hip distance, box diagonal. Everything in fp64.

One implementation of each length, for one pose or a million: arrays are frames × joints × columns (x, y, maybe z).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

VISIBLE_FROM = 0.5
"""A joint is visible when its visibility is at least this; NaN is not visible."""
MIN_EXTENT = 1e-6
"""A reference length must be strictly larger than this, and finite, for a frame to be scoreable."""


def visible_joints(visibility: NDArray[np.generic]) -> Flags:
    """Which joints are visible: visibility ≥ 0.5.

    >>> visible_joints(np.array([[0.0, 0.5, 2.0, np.nan]]))
    array([[False,  True,  True, False]])
    """
    return np.asarray(visibility) >= VISIBLE_FROM


def seen_joints(points: Floats, visibility: NDArray[Any] | None) -> Flags:
    """Which joints are visible; without visibilities, those with a finite place."""
    return np.asarray(np.isfinite(points).all(axis=2)) if visibility is None else visible_joints(visibility)


def squared_distances(one: Floats, other: Floats, *, columns: int) -> Floats:
    """Squared distance of paired points over their first `columns` coordinates: exact for whole pixels.

    Infinite beyond about 1e154, where squares overflow, and where a point is infinite; NaN where either is NaN.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = one[..., :columns] - other[..., :columns]
        np.multiply(squares, squares, out=squares)
        total = squares[..., 0] + squares[..., 1]
        for column in range(2, columns):
            np.add(total, squares[..., column], out=total)
    return total


def joint_distances(one: Floats, other: Floats, *, columns: int) -> Floats:
    """Euclidean distance of paired points over their first `columns` coordinates; NaN or inf where either is.

    Squares overflow beyond about 1e154; only those elements are done again with a scaled formula, so that ordinary
    data pays nothing and the result of an element never depends on its neighbours.

    >>> joint_distances(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0]]), columns=2)
    array([5.])
    >>> joint_distances(np.array([[3e200, 4e200]]), np.array([[0.0, 0.0]]), columns=2)
    array([5.e+200])
    """
    return roots(squared_distances(one, other, columns=columns), one, other, columns=columns)


def roots(squares: Floats, one: Floats, other: Floats, *, columns: int) -> Floats:
    """Distances from the squared distances of the same points."""
    with np.errstate(over="ignore", invalid="ignore"):
        distances = np.sqrt(squares)
        if not np.isfinite(distances.sum()):
            _redo_overflowed(distances, one, other, columns=columns)
    return distances


def _redo_overflowed(distances: Floats, one: Floats, other: Floats, *, columns: int) -> None:
    where = np.nonzero(np.isinf(distances))
    steps = one[where][..., :columns] - other[where][..., :columns]
    redone = np.zeros(len(steps))
    for column in range(columns):
        redone = np.hypot(redone, steps[:, column])
    distances[where] = redone


def spans(gt: Floats, visible: Flags, *, first: int, second: int) -> tuple[Floats, Floats]:
    """Distance of two joints of each frame in x and y, and its square; NaN where one is absent or not visible.

    A distance that no frame can be scored by is NaN too (`scoreable_extents`).
    """
    if max(first, second) >= gt.shape[1] or min(first, second) < 0:
        nowhere = np.full(gt.shape[0], np.nan)
        return nowhere, nowhere
    both = visible[:, first] & visible[:, second]
    ends = gt[:, first], gt[:, second]
    squares = squared_distances(*ends, columns=2)
    distances = np.where(both, roots(squares, *ends, columns=2), np.nan)
    return scoreable_extents(distances), np.where(both, squares, np.nan)


def bbox_sides(gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
    """Width and height of the axis-aligned box around the visible joints; NaN where a frame has none.

    A joint with a NaN or infinite coordinate has no place, so it does not stretch the box.
    """
    placed = visible & np.isfinite(gt[..., 0]) & np.isfinite(gt[..., 1])
    some = placed.any(axis=1)
    sides = []
    for column in (0, 1):
        low = np.where(placed, gt[..., column], np.inf).min(axis=1, initial=np.inf)
        high = np.where(placed, gt[..., column], -np.inf).max(axis=1, initial=-np.inf)
        with np.errstate(over="ignore"):
            sides.append(np.where(some, high - low, np.nan))
    return sides[0], sides[1]


def bbox_diagonals(gt: Floats, visible: Flags) -> tuple[Floats, Floats]:
    """Diagonal of the axis-aligned box around the visible joints of each frame, and its square; NaN where none is.

    A diagonal that no frame can be scored by is NaN too (`scoreable_extents`).
    """
    width, height = bbox_sides(gt, visible)
    corners, origin = np.stack([width, height], axis=-1), np.zeros((len(width), 2))
    squares = squared_distances(corners, origin, columns=2)
    return scoreable_extents(roots(squares, corners, origin, columns=2)), squares


def scoreable_extents(extents: Floats) -> Floats:
    """The extents, with NaN for every one that is not finite or not larger than `MIN_EXTENT`.

    >>> scoreable_extents(np.array([0.2, 1e-6, np.inf, np.nan]))
    array([0.2, nan, nan, nan])
    """
    with np.errstate(invalid="ignore"):
        return np.where((extents > MIN_EXTENT) & np.isfinite(extents), extents, np.nan)
