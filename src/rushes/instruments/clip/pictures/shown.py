"""The pictures of a clip and their distances: every frame as its grid of blocks, compared with any other.

Two copies of a picture differ by what the encoder added, which block means hide: 0.0 to 0.5 levels where the frames of
a moving clip are 1 to 30 apart. So a repeat, a standstill or a loop is judged by distance against the clip's own steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.grid_kernels import dot_products, largest_ahead, square_sums
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.pictures.cadence import Cadence, find_cadence, repeats_of

Floats = NDArray[np.float64]
_UNIT = 64
"""Block means are counted in 64ths of a level: whole numbers, whose products are exact in any order of addition."""
_DARKEST = 20.0
"""A picture with less than this part of the usual contrast stays darker than the others."""
_NEAR = 0.1
COPY_SHARE = 0.12
MOST = 1500
"""Frames whose distances are all compared: one minute at 25 frames a second."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The pictures of one clip in presentation order."""

    values: Floats
    """frames × blocks, whole 64ths of a level."""
    times_ms: Floats
    changes: Floats
    """Mean |Y_t − Y_{t−1}| of each step at full resolution; one shorter than the frames."""

    @classmethod
    def of(cls, luma: NDArray[np.float32], times_ms: Floats, changes: Floats) -> Shown:
        """From mean luma on 0–255, frames × rows × columns."""
        units = luma.reshape(len(luma), -1) * np.float32(_UNIT)  # a power of two: as exact in 32 bits as in 64
        return cls(np.rint(units, out=units).astype(np.float64), times_ms, changes)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def step_ms(self) -> float:
        """The usual time from frame to frame: the mean of those within a tenth of the median; 0 where there is none.

        Containers round times to a millisecond, so that the median of 24 frames a second is 42 and not 41.67.
        """
        steps = np.diff(self.times_ms)
        steps = steps[steps > 0]
        usual = median(steps) if len(steps) else 0.0
        near = steps[np.abs(steps - usual) <= _NEAR * usual]
        return float(near.mean()) if len(near) else usual

    @property
    def fps(self) -> float:
        return 1000.0 / self.step_ms if self.step_ms else 0.0

    def away(self, frame: int, others: NDArray[np.int64] | slice) -> Floats:
        """Distance of one frame from others: √ of the mean squared difference of block means, levels."""
        return _levels(square_sums(self.values[others], self.values[frame]), self.values.shape[1])

    def apart(self, lag: int) -> Floats:
        """Distance of every frame from the one `lag` frames on."""
        if not 0 < lag < len(self):
            return np.zeros(0)
        return _levels(square_sums(self.values[lag:], self.values[:-lag]), self.values.shape[1])

    def changes_within(self, most: int) -> Floats:
        """Of every frame but the last `most` the largest distance from the 1 to `most` frames after it."""
        return _levels(largest_ahead(self.values, most), self.values.shape[1])

    @cached_property
    def steps(self) -> Floats:
        """Distance from each frame to the next."""
        return self.apart(1)

    @cached_property
    def cadence(self) -> Cadence:
        even = self.in_even_light  # light that alternates over a picture that moves repeats nothing
        across = lambda before, after: float(even.away(before, slice(after, after + 1))[0])  # noqa: E731
        return find_cadence(even.steps, self.changes, self.fps, across=across)

    @cached_property
    def different(self) -> NDArray[np.int64]:
        """Frames that do not repeat the one before; by a closer limit, for order is lost with a picture."""
        copies = self.cadence.left_out & repeats_of(self.steps, self.fps, share=COPY_SHARE)
        return np.flatnonzero(np.concatenate([[True], ~copies])) if len(self) else np.zeros(0, np.int64)

    @cached_property
    def distinct(self) -> Shown:
        """The same without frames that repeat the one before."""
        kept = self.different
        if len(kept) == len(self):
            return self
        return Shown(self.values[kept], self.times_ms[kept], np.zeros(max(0, len(kept) - 1)))

    @cached_property
    def contrast(self) -> Floats:
        """Standard deviation of each picture's blocks, in their unit."""
        return np.asarray(self.values.std(axis=1))

    @cached_property
    def in_even_light(self) -> Shown:
        """The same pictures in one light: each less its mean and at the clip's median contrast.

        A fade to black and back is the same going down and coming up; what it shows is not.
        """
        middle, spread = self.values - self.values.mean(axis=1, keepdims=True), self.contrast
        usual = median(spread) if len(spread) else 0.0
        gain = usual / np.maximum(np.maximum(spread, usual / _DARKEST), 1.0)
        return Shown(np.rint(middle * gain[:, None]), self.times_ms, self.changes)

    @cached_property
    def matrix(self) -> Floats:
        """Distances of all pairs of the first `MOST` frames."""
        values = self.values[:MOST]
        products = dot_products(values)
        squares = np.diag(products)
        total = np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0)
        found: Floats = np.sqrt(total / max(1, values.shape[1])) / _UNIT
        return found


def rms(differences: Floats) -> Floats:
    """Root mean square over the last axis, from 64ths to levels."""
    return _levels(np.square(differences).sum(axis=-1), differences.shape[-1])


def _levels(squares: Floats, blocks: int) -> Floats:
    found: Floats = np.sqrt(squares / max(1, blocks)) / _UNIT
    return found
