"""Runs of marked samples in a sound that comes in pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Runs:
    """How many samples lie in runs of at least `least` marked ones, and the longest such run; across pieces.

    >>> runs = Runs(least=3)
    >>> runs.add(np.array([True, True, False, True, True]))
    >>> runs.add(np.array([True, False, True, True, True, True]))
    >>> runs.finish(), runs.inside, runs.longest
    (None, 7, 4)
    """

    def __init__(self, *, least: int) -> None:
        self._least = least
        self._open = 0
        """Length of the run that reaches the end of what was seen."""
        self.inside = 0
        self.longest = 0

    def add(self, marks: NDArray[np.bool_]) -> None:
        """Take the next samples."""
        if not marks.any():  # the rule, for clipping
            self.finish()
            return
        edges = np.flatnonzero(np.diff(marks, prepend=False, append=False))
        starts, ends = edges[::2], edges[1::2]
        lengths = ends - starts
        if starts[0] == 0:
            lengths[0] += self._open
            self._open = 0
        else:
            self.finish()
        if ends[-1] == len(marks):
            self._open = int(lengths[-1])
            lengths = lengths[:-1]
        for length in lengths[lengths >= self._least].tolist():
            self._keep(length)

    def finish(self) -> None:
        """End the run that is still open."""
        if self._open >= self._least:
            self._keep(self._open)
        self._open = 0

    def _keep(self, length: int) -> None:
        self.inside += length
        self.longest = max(self.longest, length)
