"""The points of one face: region around a detection, landmark network, points back in the frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushes.landmarks.crop import Pixels, Roi, project, wrapped
from rushes.landmarks.face_detector import Detection
from rushes.landmarks.network import Network

MIN_PRESENCE = 0.5
MARGIN = 1.5
"""The region is this many times the detector's box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What differs between MediaPipe's two landmark models and the graphs they run in."""

    points: int
    size: int
    """Side of the network's square input."""
    square: bool
    """Whether the region is made square by its long side (the older graph does, the Tasks graph does not)."""


MESH_468 = Layout(points=468, size=192, square=True)
MESH_478 = Layout(points=478, size=256, square=False)


class LandmarkModel:
    """Gives the points of the face inside a region, or None where the network sees no face."""

    def __init__(self, content: bytes, *, name: str, layout: Layout, threads: int = 1) -> None:
        self.layout = layout
        self._network = Network(
            content, name=name, size=layout.size, outputs=(layout.points * 3, 1), low=0.0, high=1.0, threads=threads
        )

    def locate(self, frame: Pixels, detection: Detection) -> tuple[NDArray[np.float32], float] | None:
        """Points in pixels (N × 3, z on the scale of x) and the presence score."""
        height, width = frame.shape[:2]
        roi = region_of_interest(detection, width, height, square=self.layout.square)
        region = roi.in_pixels(width, height)
        if not (region.width > 0 and region.height > 0):
            return None
        raw, flag = self._network.run(frame, region, replicate=True)
        presence = 1.0 / (1.0 + math.exp(-max(-80.0, float(flag[0]))))
        if presence <= MIN_PRESENCE:
            return None
        shares = project(raw.reshape(-1, 3) / np.float32(self.layout.size), roi)
        return shares * np.array([width, height, width], np.float32), presence


def region_of_interest(detection: Detection, width: int, height: int, *, square: bool) -> Roi:
    """The detector's box, turned so that the eyes are level, grown by `MARGIN`."""
    f = np.float32
    left, top, box_width, box_height = detection.box
    x, y = left + box_width / f(2.0), top + box_height / f(2.0)
    eyes = detection.points[:2] * np.array([width, height], np.float32)
    rotation = wrapped(-math.atan2(float(-(eyes[1, 1] - eyes[0, 1])), float(eyes[1, 0] - eyes[0, 0])))
    if square:
        side = max(box_width * f(width), box_height * f(height))
        box_width, box_height = side / f(width), side / f(height)
    return Roi(x, y, box_width * f(MARGIN), box_height * f(MARGIN), f(rotation))
