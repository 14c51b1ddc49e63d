"""The hands of one frame: MediaPipe's palm detector, the region around each palm, then 21 points in it.

The frame is letterboxed to 192², 2016 fixed anchors each propose a box (of the palm) and seven key points; the region
is turned so that the middle finger points up, moved half a palm towards the fingers and grown. Nothing is remembered
between frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.provenance import bytes_digest, file_digest, short_digest
from rushes.vision.landmarks.choice import Box, overlap
from rushes.vision.landmarks.crop import Pixels, Roi, project, wrapped
from rushes.vision.landmarks.detection import AnchorDetector
from rushes.vision.landmarks.network import Network
from rushes.vision.models.cache import model_path

FILES = ("palm_detection_full.tflite", "hand_landmark_full.tflite")
SIZE = 192
VALUES = 18
"""Numbers per anchor: box centre and size, then seven key points."""
MIN_SCORE = 0.5
MARGIN = 2.6
"""The region is this many times the palm's box …"""
SHIFT = -0.5
"""… and moved by this share of the box's height, towards the fingers."""
# (cells a side, anchors a cell): stride 8, then three layers of stride 16; two anchors a layer.
_GRIDS = ((24, 2), (12, 6))

CROP_SIZE = 224
POINTS = 21
_DEPTH = 0.4
"""MediaPipe divides this model's z by it."""
MIN_PRESENCE = 0.5
MAX_HANDS = 6
"""Palms looked at in one frame, best detector score first."""
SAME_HAND = 0.5
"""Regions that overlap by more than this (intersection over union, without rotation) are one hand."""


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand of one frame, in pixels."""

    points: NDArray[np.float32]
    """21 × 3: the wrist, then four points of each finger from thumb to little finger, base first; z on the scale of
    x."""
    score: float
    """The palm detector's confidence, 0 to 1."""
    presence: float
    """The landmark network's confidence that it sees a hand, 0 to 1."""


class HandPipeline:
    """The two networks together: one frame in, its hands out. Not for use from two threads at once.

    Parameters: `min_score` is the least confidence of a palm; MediaPipe's own finds the hands that MediaPipe finds.
    Raises `MissingDependency` where the models (`rushes models pull hands`) or LiteRT are not there.
    """

    def __init__(self, *, max_hands: int = MAX_HANDS, min_score: float = MIN_SCORE, threads: int = 1) -> None:
        paths = [model_path(name) for name in FILES]
        self.digest = short_digest(bytes_digest("".join(file_digest(path) for path in paths).encode()))
        """One digest for both model files, as it stands in signatures."""
        self.max_hands, self.min_score = max_hands, min_score
        (detector, name), (landmarks, other) = ((path.read_bytes(), str(path)) for path in paths)
        self._detector = AnchorDetector(
            detector, name=name, size=SIZE, values=VALUES, grids=_GRIDS, threads=threads, low=0.0
        )
        outputs = (POINTS * 3, 1)
        self._landmarks = Network(
            landmarks, name=other, size=CROP_SIZE, outputs=outputs, low=0.0, high=1.0, threads=threads
        )

    def observe(self, rgb: Pixels) -> tuple[Hand, ...]:
        """The hands of one H × W × 3 uint8 RGB frame, best detector score first; none is an empty tuple."""
        height, width = rgb.shape[:2]
        found = self._detector.find(rgb, self.min_score)[: self.max_hands]
        kept: list[tuple[Roi, float]] = []
        for row, score in found:
            roi = region_of_hand(row, width, height)
            # As in MediaPipe, of two that are one hand the later one stays, though its score is lower.
            kept = [(other, its) for other, its in kept if _overlap(roi, other) <= SAME_HAND]
            kept.append((roi, score))
        hands = (self._hand(rgb, roi, score) for roi, score in kept)
        return tuple(hand for hand in hands if hand is not None)

    def _hand(self, rgb: Pixels, roi: Roi, score: float) -> Hand | None:
        """The points inside a region; None where the landmark network sees no hand."""
        height, width = rgb.shape[:2]
        seen = self._landmarks.look(rgb, roi)
        if seen is None or float(seen[1][0]) <= MIN_PRESENCE:
            return None
        points = seen[0].reshape(POINTS, 3) / np.float32(CROP_SIZE)
        points[:, 2] /= np.float32(_DEPTH)
        shares = project(points, roi)
        return Hand(shares * np.array([width, height, width], np.float32), score, float(seen[1][0]))


def region_of_hand(row: NDArray[np.float32], width: int, height: int) -> Roi:
    """The square around one palm, upright along the line from the wrist to the base of the middle finger."""
    f = np.float32
    side, frame = f(max(width, height)), np.array([width, height], np.float32)
    # Shares of the letterboxed square → shares of the frame → pixels, rounding where MediaPipe does.
    shares = row.reshape(-1, 2) * (side / frame) + (f(0.5) * frame - f(0.5) * side) / frame
    box_width, box_height = shares[1] - shares[0]
    x, y = shares[0] + (shares[1] - shares[0]) / f(2.0)
    wrist, finger = shares[2] * frame, shares[4] * frame
    rotation = f(wrapped(math.pi / 2 - math.atan2(float(-(finger[1] - wrist[1])), float(finger[0] - wrist[0]))))
    shift = frame[1] * box_height * f(SHIFT)
    x, y = x - shift * f(math.sin(rotation)) / frame[0], y + shift * f(math.cos(rotation)) / frame[1]
    reach = max(box_width * frame[0], box_height * frame[1])
    return Roi(f(x), f(y), reach / frame[0] * f(MARGIN), reach / frame[1] * f(MARGIN), rotation)


def _overlap(one: Roi, other: Roi) -> float:
    """Intersection over union of two regions as if they were upright."""
    return overlap(_upright(one), _upright(other))


def _upright(roi: Roi) -> Box:
    x, y, width, height = (float(value) for value in (roi.center_x, roi.center_y, roi.width / 2, roi.height / 2))
    return x - width, y - height, x + width, y + height
