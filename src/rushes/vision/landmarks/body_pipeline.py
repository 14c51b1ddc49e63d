"""The body of one frame: MediaPipe's pose detector, the region around the person, then 33 joints in it.

The frame is letterboxed to 224², 2254 fixed anchors each propose a box (of the face) and four key points, and the best
one gives the region: centred on the middle of the hips, as large and turned as the second key point says. Nothing is
remembered between frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.provenance import bytes_digest, file_digest, short_digest
from rushes.vision.landmarks.crop import Pixels, Roi, project, wrapped
from rushes.vision.landmarks.detection import AnchorDetector
from rushes.vision.landmarks.network import Network
from rushes.vision.models.cache import model_path

SIZE = 224
VALUES = 12
"""Numbers per anchor: box centre and size, then four key points."""
MIN_SCORE = 0.5
MARGIN = 1.25
"""The region is this many times the circle through the second key point."""
# (cells a side, anchors a cell): strides 8 and 16, then three layers of stride 32; two anchors a layer.
_GRIDS = ((28, 2), (14, 2), (7, 6))

CROP_SIZE = 256
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
    people: int = 1
    """How many people the detector finds in the frame; this is the most certain one."""


class BodyPipeline:
    """The two networks together: one frame in, one body (or None) out. Not for use from two threads at once.

    Raises `MissingDependency` where the models (`rushes models pull pose`) or LiteRT are not there.
    """

    def __init__(self, *, threads: int = 1) -> None:
        paths = [model_path(name) for name in ("pose_detection.tflite", "pose_landmark_full.tflite")]
        self.digest = short_digest(bytes_digest("".join(file_digest(path) for path in paths).encode()))
        """One digest for both model files, as it stands in signatures."""
        (detector, name), (landmarks, other) = ((path.read_bytes(), str(path)) for path in paths)
        self._detector = AnchorDetector(detector, name=name, size=SIZE, values=VALUES, grids=_GRIDS, threads=threads)
        outputs = (POINTS * 5, 1, _HEAT * _HEAT * POINTS)
        self._landmarks = Network(
            landmarks, name=other, size=CROP_SIZE, outputs=outputs, low=0.0, high=1.0, threads=threads
        )

    def observe(self, rgb: Pixels) -> Body | None:
        """The most certain person's joints, in pixels of this picture; None where the networks see nobody."""
        height, width = rgb.shape[:2]
        people = self._detector.find(rgb, MIN_SCORE)
        if not people:
            return None
        roi = region_of_person(people[0][0], width, height)
        seen = self._landmarks.look(rgb, roi)
        if seen is None or float(seen[1][0]) <= MIN_PRESENCE:
            return None
        raw, flag, heat = seen
        values = raw.reshape(POINTS, 5)
        shares = refine(values[:, :3] / np.float32(CROP_SIZE), heat.reshape(_HEAT, _HEAT, POINTS))[:JOINTS]
        pixels = project(shares, roi) * np.array([width, height, width], np.float32)
        return Body(pixels, _sigmoid(values[:JOINTS, 3]), float(flag[0]), len(people))


def region_of_person(row: NDArray[np.float32], width: int, height: int) -> Roi:
    """The square around one detection, upright along the line from its first key point (hips) to its second."""
    f = np.float32
    side = f(max(width, height))
    frame = np.array([width, height], np.float32)
    # Shares of the letterboxed square → shares of the frame → pixels, rounding where MediaPipe does.
    shares = row[4:8].reshape(2, 2) * (side / frame) + (f(0.5) * frame - f(0.5) * side) / frame
    (hip_x, hip_y), (end_x, end_y) = shares * frame
    reach = f(math.hypot(float(end_x - hip_x), float(end_y - hip_y))) * f(2.0)
    rotation = wrapped(math.pi / 2 - math.atan2(float(-(end_y - hip_y)), float(end_x - hip_x)))
    return Roi(shares[0, 0], shares[0, 1], reach / frame[0] * f(MARGIN), reach / frame[1] * f(MARGIN), f(rotation))


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
        window = _sigmoid(heat[top : row + _REACH + 1, left : column + _REACH + 1, number])
        if not window.size or window.max() < _MIN_HEAT:
            continue
        total = window.sum(dtype=np.float32) * np.float32(_HEAT)
        moved[number, 0] = (
            window.sum(axis=0) * np.arange(left, left + window.shape[1], dtype=np.float32)
        ).sum() / total
        moved[number, 1] = (window.sum(axis=1) * np.arange(top, top + window.shape[0], dtype=np.float32)).sum() / total
    return moved


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    clipped = np.clip(values, -80.0, 80.0)  # beyond, the result is 0 or 1 to the last bit, and exp would overflow
    result: NDArray[np.float32] = np.float32(1.0) / (np.float32(1.0) + np.exp(-clipped))
    return result
