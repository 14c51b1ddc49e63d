"""Which of a frame's faces is meant: the one where a face is expected, else the largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

SAME_PLACE = 0.3
"""Least overlap (intersection over union) of two boxes around one face."""


def chosen(boxes: Sequence[Box], near: Box | None = None) -> int | None:
    """Index of the box that overlaps `near` most, if by `SAME_PLACE` or more; else of the largest; None of none.

    Of equals the first. Size alone would jump between two faces that are nearly equally large.

    >>> chosen([(0, 0, 10, 10), (20, 0, 40, 20)]), chosen([(0, 0, 10, 10), (20, 0, 40, 20)], near=(1, 0, 11, 10))
    (1, 0)
    """
    if not boxes:
        return None
    overlaps = [0.0 if near is None else overlap(box, near) for box in boxes]
    if max(overlaps) >= SAME_PLACE:
        return overlaps.index(max(overlaps))
    areas = [_area(box) for box in boxes]
    return areas.index(max(areas))


def overlap(one: Box, other: Box) -> float:
    """Intersection over union.

    >>> overlap((0, 0, 2, 2), (1, 0, 3, 2)), overlap((0, 0, 1, 1), (2, 2, 3, 3))
    (0.3333333333333333, 0.0)
    """
    shared = _area((max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])))
    union = _area(one) + _area(other) - shared
    return shared / union if union > 0 else 0.0


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)
