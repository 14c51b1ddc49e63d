"""The body and the hands of a clip, ten looks a second: joints of the most certain person, and every hand around it.

Hands are looked for in the square around the body, not in the whole frame: the palm detector sees 192 pixels a side,
and the hand of a person who takes half the frame's height would be ten of them. Nothing is remembered between looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.flow.observer import stride_of
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.vision.landmarks.body_pipeline import Body, BodyPipeline
from rushes.vision.landmarks.hand_pipeline import HandPipeline

if TYPE_CHECKING:
    from rushes.media import Frame, MediaFacts

RATE = 10.0
"""Looks a second, as nearly as an even stride allows."""
MIN_PALM = 0.3
"""Least confidence of a palm. MediaPipe's 0.5 finds fewer hands and, on the clips looked at, no fewer false ones."""
MARGIN = 0.25
"""The square around the body is larger by this share of its longer side, on every side."""
SEEN = 0.3
"""Least visibility of a joint that the square is drawn around."""
_BODY = 25
"""Joints before the feet: BlazePose guesses feet far outside of the frame."""
_SMALLEST = 32

Pixels = NDArray[np.uint8]
Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BodyLookedAt:
    """One look with a body."""

    frame: int
    joints: Points
    """33 × 2, pixels."""
    visibility: NDArray[np.float64]
    people: int
    hands: tuple[Points, ...]
    """21 × 2 each, pixels."""
    size: tuple[int, int]
    """Width and height of the frame."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyObservation:
    """What was seen of a body."""

    looks: tuple[BodyLookedAt, ...]
    """Looks with a body."""
    looked: int
    """All looks."""


class BodyLook:
    """Follows one clip."""

    def __init__(self, facts: MediaFacts) -> None:
        self.facts = facts
        self.latest = -1
        self._stride = stride_of(facts, RATE)
        self._looked = 0
        self._looks: list[BodyLookedAt] = []

    def add(self, frame: Frame) -> None:
        if frame.index <= self.latest:
            return
        self.latest = frame.index
        if frame.index % self._stride == 0:
            self._looked += 1
            on_one_thread(lambda: self._look(frame.index, frame.rgb()))

    def _look(self, index: int, rgb: Pixels) -> None:
        bodies, hands = _pipelines()
        body = bodies.observe(rgb)
        if body is None:
            return
        height, width = rgb.shape[:2]
        left, top, right, bottom = around(body, width, height)
        found: tuple[Points, ...] = ()
        if min(right - left, bottom - top) >= _SMALLEST:
            part = np.ascontiguousarray(rgb[top:bottom, left:right])
            found = tuple(hand.points[:, :2].astype(np.float64) + (left, top) for hand in hands.observe(part))
        joints, visibility = body.points[:, :2].astype(np.float64), body.visibility.astype(np.float64)
        self._looks.append(BodyLookedAt(index, joints, visibility, body.people, found, (width, height)))

    def finish(self) -> BodyObservation | str:
        """What was seen, or why there is nothing to say."""
        if not self._looked:
            return "no frame was looked at"
        return BodyObservation(tuple(self._looks), self._looked) if self._looks else "no body was found"


def around(body: Body, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the square around the visible joints, cut at the frame's edges."""
    points = body.points[:_BODY, :2]
    visible = points[body.visibility[:_BODY] > SEEN]
    low, high = (edge(visible if len(visible) > 3 else points, axis=0) for edge in (np.min, np.max))
    reach = float((high - low).max()) * (0.5 + MARGIN)
    (x, y) = (float(side) for side in (low + high) / 2)
    return max(0, int(x - reach)), max(0, int(y - reach)), min(width, int(x + reach)), min(height, int(y + reach))


@lru_cache(maxsize=1)
def _pipelines() -> tuple[BodyPipeline, HandPipeline]:
    """The networks, loaded once per process."""
    return BodyPipeline(), HandPipeline(min_score=MIN_PALM)
