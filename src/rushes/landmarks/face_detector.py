"""Where the faces are: MediaPipe's short-range BlazeFace detector, its anchors and its weighted suppression.

The frame is letterboxed to 128², 896 fixed anchors each propose a box and six key points, proposals under the score
threshold are dropped, and overlapping ones are averaged with their scores as weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rushes.landmarks.crop import Pixels, letterbox
from rushes.landmarks.network import Network, Tensor

SIZE = 128
ANCHORS = 896
VALUES = 16
"""Numbers per anchor: box centre and size, then six key points."""

MIN_SCORE = 0.5
MIN_OVERLAP = 0.3
"""Boxes whose intersection over union is above this are one face."""
_SCORE_CLIP = 100.0

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
        boxes = decode(regressors.reshape(ANCHORS, VALUES)[kept], anchors()[kept])
        return [_in_frame(values, score, width, height) for values, score in suppress(boxes, scores)]


@lru_cache(maxsize=1)
def anchors() -> NDArray[np.float32]:
    """Centres of the 896 anchors, in shares of the detector's input: row by row, each cell's anchors together.

    >>> anchors().shape, anchors()[0].tolist(), anchors()[-1].tolist()
    ((896, 2), [0.03125, 0.03125], [0.9375, 0.9375])
    """
    layers = []
    for cells, per_cell in _GRIDS:
        centre = (np.arange(cells, dtype=np.float32) + np.float32(0.5)) / np.float32(cells)
        y, x = np.meshgrid(centre, centre, indexing="ij")
        layers.append(np.repeat(np.stack([x.ravel(), y.ravel()], axis=1), per_cell, axis=0))
    return np.concatenate(layers)


def confident(logits: Tensor, min_score: float) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Anchors whose sigmoid score reaches the minimum, and those scores.

    The logit is compared first with a little slack, so that the exponential is taken for few anchors only.
    """
    likely = np.flatnonzero(logits > math.log(min_score / (1.0 - min_score)) - 0.01)
    clipped = np.minimum(logits[likely], np.float32(_SCORE_CLIP))
    scores = np.float32(1.0) / (np.float32(1.0) + np.exp(-clipped))
    enough = scores >= np.float32(min_score)
    return (likely, scores) if enough.all() else (likely[enough], scores[enough])


def decode(raw: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of left, top, right, bottom and twelve key-point coordinates, in shares of the letterboxed square."""
    values = raw / np.float32(SIZE)
    values.reshape(-1, 8, 2)[:, 2:] += centres[:, None]
    half = values[:, 2:4] / np.float32(2.0)
    values[:, :2] += centres
    np.add(values[:, :2], half, out=values[:, 2:4])
    values[:, :2] -= half
    return values


def suppress(
    rows: NDArray[np.float32], scores: NDArray[np.float32], *, min_overlap: float = MIN_OVERLAP
) -> list[tuple[NDArray[np.float32], float]]:
    """Weighted suppression: the best box takes in all that overlap it, their mean weighted by score; then the next.

    Boxes of negative size are dropped. A box that does not even overlap itself (no area) ends the search, as it does
    in MediaPipe.
    """
    left = np.argsort(-scores, kind="stable")
    sound = (rows[left, 2:4] >= rows[left, :2]).all(axis=1)
    left = left if sound.all() else left[sound]
    faces = []
    while len(left):
        best = left[0]
        near = _overlaps(rows[left], rows[best]) > np.float32(min_overlap)
        taken = left if near.all() else left[near]
        faces.append((_weighted(rows[taken], scores[taken]) if len(taken) else rows[best], float(scores[best])))
        if not len(taken) or len(taken) == len(left):
            break
        left = left[~near]
    return faces


def _weighted(rows: NDArray[np.float32], scores: NDArray[np.float32]) -> NDArray[np.float32]:
    # cumsum adds one row after the other in float32, as the original loop does; sum() would pair them up
    total = np.cumsum(scores, dtype=np.float32)[-1]
    mean: NDArray[np.float32] = np.cumsum(rows * scores[:, None], axis=0, dtype=np.float32)[-1] / total
    return mean


def _overlaps(rows: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.float32]:
    """Intersection over union of each row's box with one box."""
    sides = np.minimum(rows[:, 2:4], one[2:4]) - np.maximum(rows[:, :2], one[:2])
    np.maximum(sides, np.float32(0.0), out=sides)
    shared = sides[:, 0] * sides[:, 1]
    size = rows[:, 2:4] - rows[:, :2]
    union = size[:, 0] * size[:, 1] + (one[2] - one[0]) * (one[3] - one[1]) - shared
    overlaps: NDArray[np.float32] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return overlaps


def _in_frame(values: NDArray[np.float32], score: float, width: int, height: int) -> Detection:
    """From shares of the letterboxed square to shares of the frame."""
    f = np.float32
    side = f(max(width, height))
    inverse = np.array([f(1.0) / f(width), f(1.0) / f(height)], np.float32)
    shift = (f(-0.5) * side + np.array([f(0.5) * f(width), f(0.5) * f(height)], np.float32)) * inverse
    points = values.reshape(8, 2) * (side * inverse) + shift
    box = (points[0, 0], points[0, 1], points[1, 0] - points[0, 0], points[1, 1] - points[0, 1])
    return Detection(score, box, points[2:])
