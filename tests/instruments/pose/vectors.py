"""The hand-computed vectors of the metric-locked harness: 17 joints, unlisted ones at (0, 0) and invisible."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rushes.instruments.pose import PoseFrame

NOSE, L_SHOULDER, L_HIP, R_HIP = 0, 5, 11, 12
Points = Mapping[int, tuple[float, float]]


def pose(points: Points) -> np.ndarray:
    array = np.zeros((17, 2))
    for joint, place in points.items():
        array[joint] = place
    return array


def visibility(points: Points) -> np.ndarray:
    array = np.zeros(17)
    array[list(points)] = 2.0
    return array


def frame(gt: Points, pred: Points | None = None) -> PoseFrame:
    """Listed ground-truth joints are visible; a prediction left out equals the truth."""
    return PoseFrame(pose(gt if pred is None else pred), pose(gt), visibility(gt))


HIPS = {L_HIP: (0.4, 0.5), R_HIP: (0.6, 0.5)}
THREE_GT = {NOSE: (0.5, 0.1), L_SHOULDER: (0.5, 0.3), L_HIP: (0.4, 0.9), R_HIP: (0.6, 0.9)}
THREE_PRED = THREE_GT | {NOSE: (0.56, 0.1), L_SHOULDER: (0.6, 0.3)}
