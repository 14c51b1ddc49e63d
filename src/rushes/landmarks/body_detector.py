"""Where the body is: MediaPipe's pose detector, its anchors, and the region around the person it finds.

The frame is letterboxed to 224², 2254 fixed anchors each propose a box (of the face) and four key points, overlapping
proposals are averaged, and the best one gives the region: centred on the middle of the hips, as large and turned as the
second key point says.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rushes.landmarks.crop import Pixels, letterbox
from rushes.landmarks.face_detector import confident, suppress
from rushes.landmarks.face_landmarks import Roi
from rushes.landmarks.network import Network

SIZE = 224
ANCHORS = 2254
VALUES = 12
"""Numbers per anchor: box centre and size, then four key points."""
MIN_SCORE = 0.5
MARGIN = 1.25
"""The region is this many times the circle through the second key point."""

# (cells a side, anchors a cell): strides 8 and 16, then three layers of stride 32; two anchors a layer.
_GRIDS = ((28, 2), (14, 2), (7, 6))


class PoseDetector:
    """Finds the region of the most certain person of a frame; None where there is nobody."""

    def __init__(self, content: bytes, *, name: str, threads: int = 1) -> None:
        self._network = Network(
            content, name=name, size=SIZE, outputs=(ANCHORS * VALUES, ANCHORS), low=-1.0, high=1.0, threads=threads
        )

    def find(self, frame: Pixels) -> Roi | None:
        height, width = frame.shape[:2]
        regressors, logits = self._network.run(frame, letterbox(width, height), replicate=False)
        kept, scores = confident(logits, MIN_SCORE)
        if not len(kept):
            return None
        people = suppress(decode(regressors.reshape(ANCHORS, VALUES)[kept], anchors()[kept]), scores)
        return region_of_person(people[0][0], width, height) if people else None


@lru_cache(maxsize=1)
def anchors() -> NDArray[np.float32]:
    """Centres of the 2254 anchors, in shares of the detector's input: row by row, each cell's anchors together.

    >>> anchors().shape
    (2254, 2)
    """
    layers = []
    for cells, per_cell in _GRIDS:
        centre = (np.arange(cells, dtype=np.float32) + np.float32(0.5)) / np.float32(cells)
        y, x = np.meshgrid(centre, centre, indexing="ij")
        layers.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), per_cell, axis=0))
    return np.concatenate(layers)


def decode(raw: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of left, top, right, bottom and eight key-point coordinates, in shares of the letterboxed square."""
    values = raw / np.float32(SIZE)
    values[:, :2] += centres
    values[:, 4:] += np.tile(centres, 4)
    half = values[:, 2:4] / np.float32(2.0)
    return np.concatenate([values[:, :2] - half, values[:, :2] + half, values[:, 4:]], axis=1)


def region_of_person(row: NDArray[np.float32], width: int, height: int) -> Roi:
    """The square around one detection, upright along the line from its first key point (hips) to its second."""
    f = np.float32
    side = f(max(width, height))
    frame = np.array([width, height], np.float32)
    # Shares of the letterboxed square → shares of the frame → pixels, rounding where MediaPipe does.
    shares = row[4:8].reshape(2, 2) * (side / frame) + (f(0.5) * frame - f(0.5) * side) / frame
    (hip_x, hip_y), (end_x, end_y) = shares * frame
    reach = f(math.hypot(float(end_x - hip_x), float(end_y - hip_y))) * f(2.0)
    rotation = math.pi / 2 - math.atan2(float(-(end_y - hip_y)), float(end_x - hip_x))
    rotation -= 2 * math.pi * math.floor((rotation + math.pi) / (2 * math.pi))
    return Roi(shares[0, 0], shares[0, 1], reach / frame[0] * f(MARGIN), reach / frame[1] * f(MARGIN), f(rotation))
