"""The rows of one set as they are drawn and left out: by video, never by row.

Where a protocol makes several rows of one video (windows), they resemble each other. Resampling them one by one would
count them as independent and make every interval too narrow, so a video's rows go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.feature_set import FeatureSet

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of features, and which video each belongs to.

    >>> Sample(np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1])).of([1]).rows.tolist()
    [[3.0]]
    """

    rows: Floats
    units: NDArray[np.intp]
    """The video of each row, numbered from 0 in order of first appearance."""

    @property
    def count(self) -> int:
        """Videos."""
        return int(self.units.max()) + 1 if len(self.units) else 0

    def of(self, videos: Sequence[int] | NDArray[np.intp]) -> Sample:
        """The rows of these videos, in order; they are numbered anew."""
        kept = np.isin(self.units, videos)
        return Sample(self.rows[kept], np.unique(self.units[kept], return_inverse=True)[1])

    def drawn(self, draw: np.random.RandomState, size: int) -> Sample:
        """So many videos at random, without replacement, in their order."""
        return self.of(np.sort(draw.permutation(self.count)[:size]))


def sample_of(rows: Floats | FeatureSet | Sample) -> Sample:
    """A set as a sample; an array has a video in each row."""
    if isinstance(rows, Sample):
        return rows
    if isinstance(rows, FeatureSet):
        numbers = {name: number for number, name in enumerate(rows.videos)}
        units = np.array([numbers[name] for name in rows.names], dtype=np.intp)
        return Sample(rows.features.astype(np.float64), units)
    return Sample(rows, np.arange(len(rows)))
