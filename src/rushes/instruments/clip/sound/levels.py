"""How loud a sound is, at its own rate and in all its channels, followed as it is decoded: memory stays flat.

The samples are those the decoder gives, as floats with full scale at 1: nothing is mixed, resampled or cut off, so a
lossy sound may reach past full scale.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from av.audio.frame import AudioFrame
from numpy.typing import NDArray

from rushes.instruments.clip.sound.loudness import channel_weights, filtered, k_weighting
from rushes.media.audio import Resampling


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


FULL_SCALE = 1 - 2**-15
"""The highest code of 16 bits: what is at or past it is played at full scale."""
NEAR_FULL_SCALE = 0.9
"""Where the flat tops of a sound that was cut off still lie after lossy coding."""
CLIPPED_RUN = 3
SILENCE_DBFS = -60.0
SILENCE_MS = 100
OVERSAMPLING = 4
NO_SOUND = "the clip has no sound"
_ABSURD = 1e6
"""Float samples further out, and those that are no numbers, are no sound."""
_HOPS = 10
"""Tenths of a second that are looked at together."""

_PHASES = np.array(
    [
        [14, 90, -161, 272, -487, 1125, 7964, -838, 390, -218, 122, -68],
        [-239, 240, -424, 730, -1364, 3810, 6388, -1641, 832, -477, 271, -155],
    ]
)
"""Annex 2 of the recommendation, in 1/8192: the first two phases of its interpolation filter; the other two are these
backwards."""
INTERPOLATION = np.concatenate([_PHASES, _PHASES[::-1, ::-1]]) / 8192
"""(4, 12): a sample between samples is the sum of twelve of them with one row as weights."""
_TAPS = INTERPOLATION.shape[1]
_REACH = float(np.abs(INTERPOLATION).sum(axis=1).max())
"""No interpolated sample is further out than this times the samples around it."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SoundLevels:
    """What was heard of a sound."""

    rate: int
    channels: int
    samples: int
    """Of one channel."""
    hop_power: NDArray[np.float64]
    """K-weighted mean power of each whole tenth of a second, added up over the channels with their weights."""
    true_peak: float
    """Highest absolute value of the samples and of those interpolated between them; 1 is full scale."""
    clipped_samples: int
    """Samples of all channels that lie in runs of at least 3 at full scale or past it."""
    near_clipped_samples: int
    """The same from 0.9 of full scale on."""
    silent_samples: int
    """Samples that lie in runs of at least 100 ms in which every channel stays under −60 dBFS."""
    longest_silence_ms: float
    """The longest of these runs; 0 where there is none."""
    block_power: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Variance of each hundredth of a second, mean over the channels; 1 is that of a full-scale square wave."""
    block_peak: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Highest absolute value of each, over the channels."""
    channel_mean: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Mean of the samples of each channel: 0 but for a direct current."""
    channel_power: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Variance of each channel."""


class LevelMeter:
    """Follows one sound."""

    def __init__(self) -> None:
        self._resampling: Resampling | None = None
        self._pending: list[NDArray[np.float32]] = []
        self._waiting = 0
        self._piece: _Pieces | None = None

    def add(self, frame: AudioFrame) -> None:
        """Take one decoded frame. Where the rate or the channels change midway, the first frame's are kept."""
        if self._resampling is None:
            # Packed: PyAV cannot hold eight planes and more.
            self._resampling = Resampling(format="flt", layout=frame.layout.name, rate=frame.sample_rate)
            self._piece = _Pieces(frame.sample_rate, [channel.name for channel in frame.layout.channels])
        self._keep(self._resampling.push(frame))

    def finish(self) -> SoundLevels | str:
        """What was heard, or why there is nothing."""
        if self._resampling is None or self._piece is None:
            return NO_SOUND
        self._keep(self._resampling.drain())
        return self._piece.finish(self._take(self._waiting))

    def _keep(self, frames: list[AudioFrame]) -> None:
        assert self._piece is not None
        for frame in frames:
            samples = frame.to_ndarray().astype(np.float32, copy=False).reshape(-1, self._piece.channels).T
            self._pending.append(samples)
            self._waiting += samples.shape[1]
        while self._waiting >= self._piece.size:
            self._piece.add(self._take(self._piece.size))

    def _take(self, count: int) -> NDArray[np.float32]:
        """The first samples that wait."""
        assert self._piece is not None
        waiting = np.concatenate([np.zeros((self._piece.channels, 0), np.float32), *self._pending], axis=1)
        self._pending = [waiting[:, count:]]
        self._waiting -= count
        return waiting[:, :count]


class _Pieces:
    """Takes a sound in pieces of a second, and keeps what is left of them."""

    def __init__(self, rate: int, names: list[str]) -> None:
        self.channels = len(names)
        self.hop = (rate + 5) // 10
        self.size = self.hop * _HOPS
        self._rate = rate
        self._weights = np.array(channel_weights(names))
        self._sections = k_weighting(rate)
        self._state = np.zeros((2, self.channels, 2))
        self._before = np.zeros((self.channels, _TAPS - 1))
        self._samples = 0
        self._broken = False
        self._power: list[NDArray[np.float64]] = []
        self._peak = 0.0
        self._sums = np.zeros((2, self.channels))
        self._blocks: list[NDArray[np.float64]] = []
        self._clipped, self._near = ([Runs(least=CLIPPED_RUN) for _ in names] for _ in range(2))
        self._silent = Runs(least=-(-SILENCE_MS * rate // 1000))

    def add(self, piece: NDArray[np.float32]) -> None:
        """Take the next samples, channels × n; any number of them in the last piece, `size` before."""
        self._samples += piece.shape[1]
        height = np.abs(piece)
        self._broken = self._broken or not bool((height < _ABSURD).all())
        if self._broken or not piece.shape[1]:
            return
        for level, channels in ((FULL_SCALE, self._clipped), (NEAR_FULL_SCALE, self._near)):
            for runs, loud in zip(channels, height >= np.float32(level), strict=True):
                runs.add(loud)
        self._silent.add(height.max(axis=0) < np.float32(10 ** (SILENCE_DBFS / 20)))
        samples = piece.astype(np.float64)
        self._sums += samples.sum(axis=1), np.square(samples).sum(axis=1)
        self._blocks.append(self._short(samples))
        self._look_between(samples, float(height.max(initial=0.0)))
        weighted = filtered(self._sections, samples, self._state)
        whole = piece.shape[1] // self.hop
        squares = np.square(weighted[:, : whole * self.hop]).reshape(self.channels, whole, self.hop)
        self._power.append(self._weights @ squares.mean(axis=2))

    def _short(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variance and peak of each tenth of a whole hop, 2 × blocks."""
        whole, size = samples.shape[1] // self.hop, self.hop // _HOPS
        hops = samples[:, : whole * self.hop].reshape(self.channels, whole, self.hop)[..., : size * _HOPS]
        parts = hops.reshape(self.channels, whole * _HOPS, size) if size else np.zeros((self.channels, 0, 1))
        return np.stack([parts.var(axis=2).mean(axis=0), np.abs(parts).max(axis=(0, 2), initial=0.0)])

    def _look_between(self, samples: NDArray[np.float64], height: float) -> None:
        joined = np.concatenate([self._before, samples], axis=1)
        self._before = joined[:, -(_TAPS - 1) :]
        self._peak = max(self._peak, height)
        if max(height, float(np.abs(joined[:, : _TAPS - 1]).max())) * _REACH <= self._peak:
            return
        for channel in joined:
            for phase in INTERPOLATION:
                self._peak = max(self._peak, float(np.abs(np.convolve(channel, phase, "valid")).max(initial=0.0)))

    def finish(self, rest: NDArray[np.float32]) -> SoundLevels | str:
        self.add(rest)
        if self._broken:
            return "the sound has samples that are NaN; export it again"
        if not self._samples:
            return NO_SOUND
        self._look_between(np.zeros((self.channels, _TAPS - 1)), 0.0)
        for runs in (*self._clipped, *self._near, self._silent):
            runs.finish()
        blocks = np.concatenate([np.zeros((2, 0)), *self._blocks], axis=1)
        mean, square = self._sums / self._samples
        return SoundLevels(
            rate=self._rate,
            channels=self.channels,
            samples=self._samples,
            hop_power=np.concatenate([np.zeros(0), *self._power]),
            true_peak=self._peak,
            clipped_samples=sum(runs.inside for runs in self._clipped),
            near_clipped_samples=sum(runs.inside for runs in self._near),
            silent_samples=self._silent.inside,
            longest_silence_ms=self._silent.longest * 1000 / self._rate,
            block_power=blocks[0],
            block_peak=blocks[1],
            channel_mean=mean,
            channel_power=np.maximum(square - mean**2, 0.0),
        )
