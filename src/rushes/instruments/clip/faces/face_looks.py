"""One face followed through a clip by YuNet and SFace, five looks a second: who it is, its eyes and its detail.

Where the face changes from one look to the next, the frames between the two are looked at as well.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.core.metric import FrameView
from rushes.media import MediaFacts
from rushes.vision.landmarks.choice import Box
from rushes.vision.landmarks.identity import Feature, cosine, identity_networks, seen_face

RATE = 5
"""Looks a second: a look takes some 20 ms."""
STEP = 0.5
"""Cosine of successive looks under which the frames between them are looked at too: of 45 clips of one person each,
one had a single step below it."""
MOST_HELD = 24
"""Frames kept since the last look, at most: all of them up to 120 frames a second."""
SMALLEST = 96
"""Height of a face in pixels from which on its eyes and its detail are judged; smaller ones are enlarged to 112."""
EYES = ((38, 52), (74, 52))
"""Column and row of the eyes in an aligned face."""
DETAIL_SIGMA = 2.0
_EYE_SIZE, _CHEEK, _CHEEK_SIZE = (9, 5), (12, 21), (6,)
_FACE = (slice(25, 105), slice(20, 92))
_DARK = 5
_SLACK_MS = 1.0
"""Container times are rounded to a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """What was seen of the followed face in one frame."""

    frame: int
    time_ms: float
    feature: Feature | None
    """None where there is no face."""
    box: Box | None = None
    eyes: tuple[float, float] | None = None
    """How much darker each eye's dark parts are than the cheek below; None for a small face."""
    detail: float | None = None
    """Share of the face's contrast that is fine; None for a small face."""


class FaceLooks:
    """Follows one face through a clip; shared by the metrics that ask about it."""

    def __init__(self, facts: MediaFacts) -> None:
        self.facts = facts
        self.latest = -1
        self.networks = identity_networks()
        self.looks: list[Look] = []
        self.between: list[Look] = []
        # A frame that is kept keeps the decoder's memory for it: less than copies of pictures that are rarely needed.
        self._held: deque[FrameView] = deque(maxlen=MOST_HELD)
        self._next_ms = -np.inf
        self._last: Look | None = None
        """The last look with a face."""

    def add(self, frame: FrameView) -> None:
        if frame.index <= self.latest:
            return
        self.latest = frame.index
        if frame.time_ms < self._next_ms:
            self._held.append(frame)
            return
        self._next_ms = frame.time_ms + 1000 / RATE - _SLACK_MS
        last, now = self._last, self._look(frame)
        self.looks.append(now)
        if now.feature is not None:
            if last is not None and last.feature is not None and cosine(last.feature, now.feature) < STEP:
                self.between += [self._look(held) for held in self._held]
            self._last = now
        self._held.clear()

    def _look(self, frame: FrameView) -> Look:
        seen = seen_face(self.networks, frame.rgb(), None if self._last is None else self._last.box)
        if seen is None:
            return Look(frame=frame.index, time_ms=frame.time_ms, feature=None)
        light = cv2.cvtColor(seen.aligned, cv2.COLOR_BGR2GRAY).astype(np.float32)
        large = seen.box[3] - seen.box[1] >= SMALLEST
        return Look(
            frame=frame.index,
            time_ms=frame.time_ms,
            feature=seen.feature,
            box=seen.box,
            eyes=eye_depths(light) if large else None,
            detail=face_detail_of(light) if large else None,
        )


def eye_depths(light: NDArray[np.float32]) -> tuple[float, float]:
    """Of both eyes of an aligned face: 1 − (5th percentile of the luma around the eye) / (median of the cheek below).

    >>> plain = np.full((112, 112), 120, np.float32)
    >>> plain[52, 36:41] = 30
    >>> plain[51:54, 30:46] = 30
    >>> eye_depths(plain)
    (0.75, 0.0)
    """
    found = []
    for x, y in EYES:
        eye = light[y - _EYE_SIZE[1] : y + _EYE_SIZE[1] + 1, x - _EYE_SIZE[0] : x + _EYE_SIZE[0] + 1]
        cheek = float(np.median(light[y + _CHEEK[0] : y + _CHEEK[1] + 1, x - _CHEEK_SIZE[0] : x + _CHEEK_SIZE[0] + 1]))
        found.append(1.0 - float(np.percentile(eye, _DARK)) / max(cheek, 1.0))
    return found[0], found[1]


def face_detail_of(light: NDArray[np.float32]) -> float:
    """Spread of an aligned face less its blurred self (Gaussian, σ = 2 of 112 pixels) over its spread; 0 if plain.

    >>> face_detail_of(np.full((112, 112), 120, np.float32))
    0.0
    """
    face = np.ascontiguousarray(light[_FACE])
    fine = face - cv2.GaussianBlur(face, (0, 0), DETAIL_SIGMA)
    return float(fine.std() / max(float(face.std()), 1.0))
