"""Frames that stand out from those around them, which agree with each other: a torn, inverted or foreign frame.

A cut changes the picture once; a glitch changes it and changes it back. Whether it came back is looked at only where
two steps stand out, so that an ordinary clip pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.luma_sums import Plane, absolute_difference
from rushes.media.luma import LumaPlane

LONGEST = 3
"""Frames a glitch lasts at most."""
_STANDS_OUT = 2.0
"""How many times the steps before it a step must be to be looked at."""


class HasLuma(Protocol):
    """A frame, whose plane is made only when it is looked at."""

    @property
    def luma(self) -> LumaPlane: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """A step that stands out, and the plane before it: what comes back to that plane was a glitch."""

    frame: int
    step: float
    limit: float
    before: Plane


class OddFrames:
    """Follows the planes of one clip; `scores` has a value per frame, 0 where nothing stands out.

    The score of the frames t … t + k − 1 (k ≤ `LONGEST`) is min(d_in, d_out) / (d_back + 1): the steps into and out of
    them over the step from the frame before to the frame after, all mean |ΔY| on 0–255. The 1 keeps a still scene from
    dividing by nothing.
    """

    def __init__(self) -> None:
        self._frames = 0
        self._last: tuple[float, ...] = ()
        """The two steps before this one, fewer at the start."""
        self._starts: tuple[_Start, ...] = ()
        self._found: dict[int, float] = {}

    def add(self, now: HasLuma, before: HasLuma | None, *, step: float) -> None:
        """The next frame, the one before it (None for the first), and the step between."""
        frame, self._frames = self._frames, self._frames + 1
        if before is None:
            return
        if self._starts:
            self._close(now.luma, frame, step)
        if self._last:
            limit = _STANDS_OUT * (max(self._last) + 1)
            if step > limit:
                self._starts += (_Start(frame, step, limit, before.luma.values),)
        self._last = (*self._last[-1:], step)

    def _close(self, plane: LumaPlane, frame: int, step: float) -> None:
        values = plane.values
        for start in self._starts:
            change = min(start.step, step)
            if change > start.limit:
                score = change / (absolute_difference(values, start.before) * plane.scale / values.size + 1)
                for odd in range(start.frame, frame):
                    self._found[odd] = max(self._found.get(odd, 0.0), score)
        self._starts = tuple(start for start in self._starts if frame - start.frame < LONGEST)

    @property
    def scores(self) -> NDArray[np.float64]:
        scores = np.zeros(self._frames)
        for frame, score in self._found.items():
            scores[frame] = score
        return scores
