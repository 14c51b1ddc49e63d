"""Neighbouring frames followed both ways, for what is said about motion in pixels: warping error and magnitude.

Flow is taken between a frame and the very next one, at a short side of at most 256 pixels. What costs too much for
every pair takes fewer of them, at a rate of its own; each is still one frame long. `observer.py` looks further
apart, at about a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.flow.observer import flow_between, stride_of
from rushes.instruments.clip.flow.warp_sums import Field, Rgb, warp_sums
from rushes.instruments.clip.frames.one_thread import on_one_thread

if TYPE_CHECKING:
    from rushes.media import Frame, MediaFacts

SHORT_SIDE = 256
LONG_SIDE = 1024
"""Pixels a larger picture is reduced to, by area; the long side binds beyond 4:1 alone."""
RAFT_ITERATIONS = 12
"""As the published code has it where nothing is said; on known shifts 20 are no nearer, and cost half as much again."""
RAFT_RATE = 2.0
"""Pairs a second: a pair takes seconds of one core."""

Series = NDArray[np.float64]
Flows = Callable[[Rgb, Rgb], tuple[Field, Field]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """A way to find flow, and how often it is affordable."""

    name: str
    flows: Flows
    """From two pictures to the flow there and back, H × W × (x, y) in pixels."""
    rate: float | None
    """Pairs a second, as nearly as an even stride allows; None for every pair."""
    smallest: int
    """Pixels to a side, below which there is none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FollowedSteps:
    """One value per pair, and the index of the frame it leads to."""

    frames: NDArray[np.int64]
    motion_px: Series
    """Mean length of the flow, in pixels of the clip's own size."""
    time_ms: Series
    """From the one frame to the next."""
    diagonal_px: float
    squared: Series
    """Mean squared difference to the next frame taken back along the flow, on 0–1; NaN where nothing could be seen."""
    absolute: Series
    """The same, mean absolute difference."""
    seen: Series
    """Share of the pixels that both frames show, as far as the flow can tell."""


class Following:
    """Follows one clip. Several metrics may hand it the same frame: it is looked at once."""

    def __init__(self, facts: MediaFacts, follower: Follower) -> None:
        self.facts = facts  # kept, so that its id stays its own
        self.latest = -1
        self._follower = follower
        self._stride = 1 if follower.rate is None else stride_of(facts, follower.rate)
        self._before: tuple[Rgb, float] | None = None
        self._own_size = self._size = (0, 0)
        self._rows: list[tuple[float, ...]] = []

    def add(self, frame: Frame) -> None:
        if frame.index <= self.latest:
            return
        self.latest = frame.index
        place = frame.index % self._stride
        if place > 1:
            return
        picture = self._reduced(frame.rgb())
        before = self._before
        self._before = picture, frame.time_ms
        if before is not None and (self._stride == 1 or place == 1) and min(self._size) >= self._follower.smallest:
            self._follow(frame, before, picture)

    def _reduced(self, picture: Rgb) -> Rgb:
        height, width = picture.shape[:2]
        share = min(1.0, SHORT_SIDE / min(height, width), LONG_SIDE / max(height, width))
        self._own_size = height, width
        self._size = max(1, round(height * share)), max(1, round(width * share))
        if share == 1:
            return picture
        return cast(Rgb, cv2.resize(picture, self._size[::-1], interpolation=cv2.INTER_AREA))

    def _follow(self, frame: Frame, before: tuple[Rgb, float], now: Rgb) -> None:
        there, back = self._follower.flows(before[0], now)
        down, across = (own / small for own, small in zip(self._own_size, self._size, strict=True))
        length = float(np.hypot(there[..., 0] * across, there[..., 1] * down).mean(dtype=np.float64))
        squared, absolute, seen = warp_sums(before[0], now, there, back)
        samples = 3 * seen if seen else float("nan")
        errors = squared / samples / 255**2, absolute / samples / 255
        share = seen / (self._size[0] * self._size[1])
        self._rows.append((frame.index, length, frame.time_ms - before[1], *errors, share))

    def finish(self) -> FollowedSteps | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            small = 0 < min(self._size) < self._follower.smallest
            least = f"frames of less than {self._follower.smallest} pixels have no {self._follower.name} flow"
            return least if small else "fewer than two frames to follow"
        frames, motion, time, squared, absolute, seen = np.array(self._rows, dtype=np.float64).T
        return FollowedSteps(
            frames=frames.astype(np.int64),
            motion_px=motion,
            time_ms=time,
            diagonal_px=float(np.hypot(*self._own_size)),
            squared=squared,
            absolute=absolute,
            seen=seen,
        )


_UNDER_WAY: WeakValueDictionary[tuple[int, str], Following] = WeakValueDictionary()


def following(facts: MediaFacts, follower: Follower) -> Following:
    """Who follows this clip in this way: metrics that start on the same facts share one, until a frame is seen."""
    key = id(facts), follower.name
    found = _UNDER_WAY.get(key)
    if found is None or found.latest >= 0 or found.facts is not facts:
        found = _UNDER_WAY[key] = Following(facts, follower)
    return found


def dis_flows(one: Rgb, other: Rgb) -> tuple[Field, Field]:
    """OpenCV's DIS flow on grey pictures, refined down to single pixels, there and back; one thread."""

    def both() -> tuple[Any, Any]:
        grey, next_grey = (cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in (one, other))
        return flow_between(grey, next_grey, fine=True), flow_between(next_grey, grey, fine=True)

    return on_one_thread(both)


def raft_flows(one: Rgb, other: Rgb) -> tuple[Field, Field]:
    """RAFT's flow there and back; see `rushes.instruments.clip.flow.raft`."""
    from rushes.instruments.clip.flow import raft

    return raft.flows(one, other, iterations=RAFT_ITERATIONS)


DIS = Follower(name="DIS", flows=dis_flows, rate=None, smallest=32)
RAFT = Follower(name="RAFT", flows=raft_flows, rate=RAFT_RATE, smallest=128)
