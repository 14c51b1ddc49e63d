"""The 33 joints of one body: the crop of a region, the landmark network, its heat map, points back in the frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.landmarks.crop import Pixels
from rushes.landmarks.face_landmarks import Roi, project
from rushes.landmarks.network import Network

SIZE = 256
POINTS = 39
JOINTS = 33
"""The rest of the 39 points serve tracking, which is not done here."""
MIN_PRESENCE = 0.5
_HEAT = 64
_REACH = 4
"""The heat map is read 9 × 9 around a point."""
_MIN_HEAT = 0.5


@dataclass(frozen=True, slots=True)
class Body:
    """One person's joints."""

    points: NDArray[np.float32]
    """33 × 3: x, y in pixels, z on the scale of x, with the hips at about 0."""
    visibility: NDArray[np.float32]
    presence: float
    """How sure the network is that there is a person at all."""


class PoseLandmarker:
    """Gives the joints of the person inside a region, or None where the network sees none."""

    def __init__(self, content: bytes, *, name: str, threads: int = 1) -> None:
        outputs = (POINTS * 5, 1, _HEAT * _HEAT * POINTS)
        self._network = Network(content, name=name, size=SIZE, outputs=outputs, low=0.0, high=1.0, threads=threads)

    def locate(self, frame: Pixels, roi: Roi) -> Body | None:
        height, width = frame.shape[:2]
        region = roi.in_pixels(width, height)
        if not (region.width > 0 and region.height > 0):
            return None
        raw, flag, heat = self._network.run(frame, region, replicate=True)
        presence = float(flag[0])
        if presence <= MIN_PRESENCE:
            return None
        values = raw.reshape(POINTS, 5)
        shares = refine(values[:, :3] / np.float32(SIZE), heat.reshape(_HEAT, _HEAT, POINTS))[:JOINTS]
        pixels = project(shares, roi) * np.array([width, height, width], np.float32)
        return Body(pixels, _sigmoid(values[:JOINTS, 3]), presence)


def refine(points: NDArray[np.float32], heat: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move each point to the centre of mass of its heat map nearby, where that is hot enough.

    Inputs      points N × 3 in shares of the crop, heat maps rows × columns × N before the sigmoid
    """
    moved = points.copy()
    for number, (x, y) in enumerate(points[:, :2]):
        column, row = int(x * np.float32(_HEAT)), int(y * np.float32(_HEAT))
        if not (0 <= column < _HEAT and row >= 0):
            continue  # MediaPipe lets points below the crop through, and so do we: they may touch its last rows
        left, top = max(0, column - _REACH), max(0, row - _REACH)
        near = _sigmoid(heat[top : row + _REACH + 1, left : column + _REACH + 1, number])
        if not near.size or near.max() < _MIN_HEAT:
            continue
        total = near.sum(dtype=np.float32) * np.float32(_HEAT)
        moved[number, 0] = (near.sum(axis=0) * np.arange(left, left + near.shape[1], dtype=np.float32)).sum() / total
        moved[number, 1] = (near.sum(axis=1) * np.arange(top, top + near.shape[0], dtype=np.float32)).sum() / total
    return moved


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    clipped = np.clip(values, -80.0, 80.0)  # beyond, the result is 0 or 1 to the last bit, and exp would overflow
    result: NDArray[np.float32] = np.float32(1.0) / (np.float32(1.0) + np.exp(-clipped))
    return result
