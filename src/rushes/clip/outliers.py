"""Frames that stand out from those around them, which agree with each other: a torn, inverted or foreign frame.

A cut changes the picture once; a glitch changes it and changes it back. Whether it came back is looked at only where
two steps stand out, so that an ordinary clip pays nothing.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from rushes.clip.luma_sums import Plane, luma_sums

LONGEST = 3
"""Frames a glitch lasts at most."""
_STANDS_OUT = 2.0
"""How many times the steps before it a step must be to be looked at."""


class OddFrames:
    """Follows the planes of one clip; `scores` has a value per frame, 0 where nothing stands out.

    The score of the frames t … t + k − 1 (k ≤ `LONGEST`) is min(d_in, d_out) / (d_back + 1): the steps into and out of
    them over the step from the frame before to the frame after, all mean |ΔY| on 0–255. The 1 keeps a still scene from
    dividing by nothing.
    """

    def __init__(self) -> None:
        self._planes: deque[Plane] = deque(maxlen=LONGEST + 2)
        self._steps: list[float] = []
        self._scores: list[float] = []

    def add(self, plane: Plane, *, step: float | None, scale: float) -> None:
        """The next plane and the step that leads to it (None for the first); `scale` turns coded values into levels."""
        self._planes.append(plane)
        self._scores.append(0.0)
        if step is None:
            return
        self._steps.append(step)
        out = len(self._steps) - 1
        for length in range(1, min(LONGEST, out - 1) + 1):
            into = out - length
            change = min(self._steps[into], step)
            if change > _STANDS_OUT * (max(self._steps[max(0, into - 2) : into]) + 1):
                self._mark(into, length, change, scale)

    def _mark(self, into: int, length: int, change: float, scale: float) -> None:
        after, before = self._planes[-1], self._planes[-2 - length]
        back = luma_sums(after, before).difference * scale / after.size
        score = change / (back + 1)
        for frame in range(into + 1, into + 1 + length):
            self._scores[frame] = max(self._scores[frame], score)

    @property
    def scores(self) -> NDArray[np.float64]:
        return np.array(self._scores, dtype=np.float64)
