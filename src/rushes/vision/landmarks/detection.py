"""What MediaPipe's detectors share: fixed anchors, the score threshold, box decoding and weighted suppression.

Each anchor proposes a box and some key points; proposals under the score threshold are dropped, and overlapping ones
are averaged with their scores as weights.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rushes.vision.landmarks.crop import Pixels, letterbox
from rushes.vision.landmarks.network import Network, Tensor

MIN_OVERLAP = 0.3
"""Boxes whose intersection over union is above this are one face, or one person."""
_SCORE_CLIP = 100.0


class AnchorDetector:
    """A detector network: what it finds in a frame, best score first, each as its row and its score.

    Parameters: `size` is the side of its square input, `values` the numbers per anchor (box centre and size, then key
    points), `grids` the anchors' layers, `low` what black becomes (white is 1). Rows are left, top, right, bottom and
    key points in shares of the letterboxed square.
    """

    def __init__(
        self,
        content: bytes,
        *,
        name: str,
        size: int,
        values: int,
        grids: tuple[tuple[int, int], ...],
        threads: int,
        low: float = -1.0,
    ) -> None:
        self._size, self._anchors = size, anchors(*grids)
        self._shape = len(self._anchors), values
        outputs = (len(self._anchors) * values, len(self._anchors))
        self._network = Network(content, name=name, size=size, outputs=outputs, low=low, high=1.0, threads=threads)

    def find(self, frame: Pixels, min_score: float) -> list[tuple[NDArray[np.float32], float]]:
        regressors, logits = self._network.run(frame, letterbox(frame.shape[1], frame.shape[0]), replicate=False)
        kept, scores = confident(logits, min_score)
        if not len(kept):
            return []
        return suppress(decode(regressors.reshape(self._shape)[kept], self._anchors[kept], size=self._size), scores)


@cache
def anchors(*grids: tuple[int, int]) -> NDArray[np.float32]:
    """Centres of the anchors, in shares of the detector's input: row by row, each cell's anchors together.

    Inputs      per layer, cells a side and anchors a cell

    >>> centres = anchors((16, 2), (8, 6))
    >>> centres.shape, centres[0].tolist(), centres[-1].tolist()
    ((896, 2), [0.03125, 0.03125], [0.9375, 0.9375])
    """
    layers = []
    for cells, per_cell in grids:
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


def decode(raw: NDArray[np.float32], centres: NDArray[np.float32], *, size: int) -> NDArray[np.float32]:
    """Rows of left, top, right, bottom and the key points' coordinates, in shares of the letterboxed square.

    Inputs      per anchor, in pixels of the square of side `size`: box centre, box size, key points
    """
    values = raw / np.float32(size)
    values.reshape(len(raw), -1, 2)[:, 2:] += centres[:, None]
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
    kept = []
    while len(left):
        best = left[0]
        overlapping = _overlaps(rows[left], rows[best]) > np.float32(min_overlap)
        taken = left if overlapping.all() else left[overlapping]
        kept.append((_weighted(rows[taken], scores[taken]) if len(taken) else rows[best], float(scores[best])))
        if not len(taken) or len(taken) == len(left):
            break
        left = left[~overlapping]
    return kept


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
