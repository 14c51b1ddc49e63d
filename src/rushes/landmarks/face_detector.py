"""Where the faces are: MediaPipe's short-range BlazeFace detector.

The frame is letterboxed to 128², and 896 fixed anchors each propose a box and six key points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.landmarks.crop import Pixels, letterbox
from rushes.landmarks.detection import anchors, confident, decode, suppress
from rushes.landmarks.network import Network

SIZE = 128
ANCHORS = 896
VALUES = 16
"""Numbers per anchor: box centre and size, then six key points."""

MIN_SCORE = 0.5

# (cells a side, anchors a cell): stride 8, then three layers of stride 16; two anchors a layer.
_GRIDS = ((16, 2), (8, 6))


@dataclass(frozen=True, slots=True)
class Detection:
    """One face, in shares of the frame's width and height, float32."""

    score: float
    box: tuple[np.float32, np.float32, np.float32, np.float32]
    """Left, top, width, height."""
    points: NDArray[np.float32]
    """Six key points: right eye, left eye, nose tip, mouth, right ear, left ear (6 × 2)."""


class Detector:
    """Finds the faces of one frame, best score first."""

    def __init__(self, content: bytes, *, name: str, min_score: float = MIN_SCORE, threads: int = 1) -> None:
        self._network = Network(
            content, name=name, size=SIZE, outputs=(ANCHORS * VALUES, ANCHORS), low=-1.0, high=1.0, threads=threads
        )
        self._min_score = min_score

    def detect(self, frame: Pixels) -> list[Detection]:
        height, width = frame.shape[:2]
        regressors, logits = self._network.run(frame, letterbox(width, height), replicate=False)
        kept, scores = confident(logits, self._min_score)
        if not len(kept):
            return []
        boxes = decode(regressors.reshape(ANCHORS, VALUES)[kept], anchors(*_GRIDS)[kept], size=SIZE)
        return [_in_frame(values, score, width, height) for values, score in suppress(boxes, scores)]


def _in_frame(values: NDArray[np.float32], score: float, width: int, height: int) -> Detection:
    """From shares of the letterboxed square to shares of the frame."""
    f = np.float32
    side = f(max(width, height))
    inverse = np.array([f(1.0) / f(width), f(1.0) / f(height)], np.float32)
    shift = (f(-0.5) * side + np.array([f(0.5) * f(width), f(0.5) * f(height)], np.float32)) * inverse
    points = values.reshape(8, 2) * (side * inverse) + shift
    box = (points[0, 0], points[0, 1], points[1, 0] - points[0, 0], points[1, 1] - points[0, 1])
    return Detection(score, box, points[2:])
