"""The plainest observer: numbers of each pair of frames, kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rushes.fidelity.metric import Seen
from rushes.fidelity.picture import FramePair


class PerFrame:
    """Asks a function for the numbers of each pair, by the series' names; `missing` says why it is not asked."""

    def __init__(self, values: Callable[[FramePair], Mapping[str, float]], *, missing: str = "") -> None:
        self._values = values
        self._missing = missing
        self._rows: list[Mapping[str, float]] = []

    def add(self, pair: FramePair) -> None:
        if not self._missing:
            self._rows.append(self._values(pair))

    def finish(self) -> Seen:
        if self._missing or not self._rows:
            return Seen(missing=self._missing or "there is no pair of frames")
        return Seen(series={name: np.array([row[name] for row in self._rows]) for name in self._rows[0]})


def too_small(size: tuple[int, int], least: int, what: str) -> str:
    """Why pictures of this width and height have no value; "" where they are large enough.

    >>> too_small((64, 10), 11, "the window")
    'pictures of 64×10 are smaller than the window (11×11)'
    """
    if min(size) >= least:
        return ""
    return f"pictures of {size[0]}×{size[1]} are smaller than {what} ({least}×{least})"
