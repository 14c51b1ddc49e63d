"""The plainest observer: numbers of each pair of frames, kept as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rushes.instruments.fidelity.metric import Seen
from rushes.instruments.fidelity.pairs.picture import FramePair


class Unsuited(Exception):
    """A picture, or a pair of them, that cannot be measured; the text says why."""


class PerFrame:
    """Asks a function for the numbers of each pair, by the series' names; `missing` says why it is not asked.

    A pair that is `Unsuited` ends it: the clip then has no value.
    """

    def __init__(self, values: Callable[[FramePair], Mapping[str, float]], *, missing: str = "") -> None:
        self._values = values
        self._missing = missing
        self._rows: list[Mapping[str, float]] = []
        self.grey = ""
        """Why chroma has no value, where the pictures are grey."""

    def add(self, pair: FramePair) -> None:
        if not self._missing:
            try:
                self._rows.append(self._values(pair))
            except Unsuited as error:
                self._missing = str(error)

    def finish(self) -> Seen:
        if self._missing or not self._rows:
            return Seen(missing=self._missing or "there is no pair of frames")
        series = {name: np.array([row[name] for row in self._rows]) for name in self._rows[0]}
        notes = {name: self.grey for name in series if name.endswith(("_u", "_v"))} if self.grey else {}
        return Seen(series=series, notes=notes)


def too_small(size: tuple[int, int], least: int, what: str) -> str:
    """Why pictures of this width and height have no value; "" where they are large enough.

    >>> too_small((64, 10), 11, "the window")
    'pictures of 64×10 are smaller than the window (11×11)'
    """
    if min(size) >= least:
        return ""
    return f"pictures of {size[0]}×{size[1]} are smaller than {what} ({least}×{least})"
