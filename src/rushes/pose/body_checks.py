"""What makes a body's numbers doubtful: hips that leap to somebody else, hips seen from the side."""

from __future__ import annotations

import numpy as np

from rushes.pose.geometry import Flags, Floats, joint_distances
from rushes.pose.skeletons import Skeleton

JUMP_TORSOS = 2.0
"""Hip spans that the hips' middle moves from one frame to the next, and more than the trunk's length, in a leap."""
NARROW = 0.15
"""A hip span below this share of the trunk's length: the body is seen from the side."""


def jumps(points: Floats, seen: Flags, skeleton: Skeleton) -> Flags:
    """Frames whose hips lie further from those of the frame before than a body moves; the first never does."""
    left, right = skeleton.hips
    with np.errstate(invalid="ignore", over="ignore"):
        middle = (points[:, left] + points[:, right]) / 2
        step = joint_distances(middle[1:], middle[:-1], columns=2)
        span, trunk = _lengths(points, skeleton)
        limit = np.maximum(JUMP_TORSOS * span, np.nan_to_num(trunk))
        leaps = step > np.maximum(limit[1:], limit[:-1])
    both = seen[:, left] & seen[:, right]
    found = np.zeros(len(points), dtype=bool)
    found[1:] = leaps & both[1:] & both[:-1]
    return found


def narrow(points: Floats, seen: Flags, skeleton: Skeleton) -> Flags:
    """Frames whose hips are so close together, measured by the trunk, that the body stands sideways."""
    span, trunk = _lengths(points, skeleton)
    left, right = skeleton.hips
    with np.errstate(invalid="ignore"):
        return np.asarray(seen[:, left] & seen[:, right] & (span < NARROW * trunk))


def _lengths(points: Floats, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Hip to hip, and shoulders' middle to hips' middle (NaN for joints nobody named)."""
    left, right = skeleton.hips
    span = joint_distances(points[:, left], points[:, right], columns=2)
    names = {name: number for number, name in enumerate(skeleton.joints)}
    if "left_shoulder" not in names or "right_shoulder" not in names:
        return span, np.full(len(points), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        shoulders = (points[:, names["left_shoulder"]] + points[:, names["right_shoulder"]]) / 2
        hips = (points[:, left] + points[:, right]) / 2
    return span, joint_distances(shoulders, hips, columns=2)
