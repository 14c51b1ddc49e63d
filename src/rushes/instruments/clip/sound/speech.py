"""How loud the sound is where speech is, frame by frame, and whether it rises and falls like speech at all.

Plain loudness is led by hum, bass and the buzz of the voice. What the mouth shapes lies higher: from 500 to 4000 Hz the
loudness follows the opening of the lips best (42 clips of people who speak; 300 to 3400 Hz, the telephone's band, told
fewer shifted sounds from true ones). Speech rises and falls by 8 dB and more around its mean over a second; music
under a picture stays within 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rushes.media import AudioTrack


def detrended(values: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    """Each value less the mean of those up to `reach` places away, itself included; gaps (NaN) stay gaps.

    >>> detrended(np.array([1.0, 2.0, 6.0, np.nan]), reach=1).tolist()
    [-0.5, -1.0, 2.0, nan]
    """
    known = np.isfinite(values)
    places = np.arange(len(values))
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    total, count = sums[high] - sums[low], counts[high] - counts[low]
    found: NDArray[np.float64] = np.where(known, values - total / np.maximum(count, 1), np.nan)
    return found


def spread(values: NDArray[np.float64], *, fps: float) -> float:
    """Population standard deviation of a series less its running mean over one second; 0 where nothing is known."""
    moving = detrended(values, reach=max(1, round(fps / 2)))
    known = moving[np.isfinite(moving)]
    return float(np.std(known)) if len(known) else 0.0


BAND_HZ = (500, 4000)
WINDOW_MS = 32
HOP_MS = 10
EXPONENT = 0.2
"""Loudness is the band's power to this: between the square root of the power and its logarithm, as hearing is."""
FLOOR_DB = -40.0
"""Quieter than this under the loud parts counts as silence."""
MIN_LEVEL_DB = -50.0
"""Quieter loud parts than this, against a full-scale tone, are noise of the recording."""
MIN_VARIATION_DB = 6.0
ACTIVE_DB = -20.0
"""Speech is heard within 20 dB of the loud parts, and 250 ms around that: a stop between two words is part of it."""
ACTIVE_MS = 250
_BLOCK = 2000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SpeechSound:
    """The sound per frame of picture, as far as speech goes."""

    loudness: NDArray[np.float64]
    """(T); NaN where there is no sound."""
    active: NDArray[np.bool_]
    """(T); in which frames there is sound as loud as speech, or within 250 ms of one."""
    level_db: float
    """Level of the loud parts (95th percentile) in the band; 0 is a full-scale tone."""
    variation_db: float
    """How far the level rises and falls around its running mean over a second (standard deviation)."""

    @property
    def not_speech(self) -> str:
        """Why this is not the sound of speech; "" where it may be."""
        if self.level_db == -np.inf:
            return "the sound is silent"
        if self.level_db < MIN_LEVEL_DB:
            return f"the sound is too quiet for speech ({self.level_db:.0f} dB; {MIN_LEVEL_DB:.0f} are needed)"
        if self.variation_db < MIN_VARIATION_DB:
            return f"the sound does not rise and fall like speech ({self.variation_db:.1f} dB; it takes 6)"
        return ""


def speech_sound(
    audio: AudioTrack | None, *, times_ms: NDArray[np.float64] | None, frames: int, fps: float | None
) -> SpeechSound | str:
    """Loudness of the speech band per frame; the reason, as text, where there is no sound or no frame rate."""
    if audio is None or not len(audio.samples):
        return "the clip has no sound"
    if not fps or fps <= 0:
        return "the clip states no frame rate"
    starts = np.arange(frames) / fps if times_ms is None else np.asarray(times_ms) / 1000
    power = _per_frame(*band_power(audio.samples, audio.rate), np.append(starts, starts[-1:] + 1 / fps))
    known = power[np.isfinite(power)]
    loud = float(np.percentile(known, 95)) if len(known) else 0.0
    if loud <= 0:
        return SpeechSound(loudness=power, active=np.zeros(frames, np.bool_), level_db=-np.inf, variation_db=0.0)
    level = 10 * np.log10(np.maximum(power, loud * 10 ** (FLOOR_DB / 10)))
    return SpeechSound(
        loudness=power**EXPONENT,
        active=_near(power >= loud * 10 ** (ACTIVE_DB / 10), reach=round(ACTIVE_MS / 1000 * fps)),
        level_db=float(10 * np.log10(loud)),
        variation_db=spread(level, fps=fps),
    )


def band_power(samples: NDArray[np.float32], rate: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle in seconds and power in the band of each 32 ms (Hann), every 10 ms; a full-scale tone has power 1."""
    width, hop = round(WINDOW_MS * rate / 1000), round(HOP_MS * rate / 1000)
    count = max(0, (len(samples) - width) // hop + 1)
    window = np.hanning(width)
    hz = np.fft.rfftfreq(width, 1 / rate)
    inside = (hz >= BAND_HZ[0]) & (hz <= BAND_HZ[1])
    power = np.zeros(count)
    for first in range(0, count, _BLOCK):
        starts = np.arange(first, min(first + _BLOCK, count)) * hop
        pieces = samples[starts[:, None] + np.arange(width)].astype(np.float64) * window
        spectrum = np.fft.rfft(pieces, axis=1)[:, inside]
        power[first : first + len(starts)] = np.sum(spectrum.real**2 + spectrum.imag**2, axis=1)
    return (np.arange(count) * hop + width / 2) / rate, power * 4 / (width * float(np.sum(window**2)))


def _near(marks: NDArray[np.bool_], *, reach: int) -> NDArray[np.bool_]:
    """Which places are marked, or up to `reach` away from one that is."""
    counts = np.concatenate([[0], np.cumsum(marks)])
    places = np.arange(len(marks))
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(marks))
    found: NDArray[np.bool_] = counts[high] > counts[low]
    return found


def _per_frame(
    middles: NDArray[np.float64], power: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean power of the pieces whose middle falls into each frame; NaN where none does."""
    sums = np.concatenate([[0.0], np.cumsum(power)])
    low, high = np.searchsorted(middles, edges[:-1]), np.searchsorted(middles, edges[1:])
    count = high - low
    mean: NDArray[np.float64] = np.divide(
        np.maximum(sums[high] - sums[low], 0.0), count, out=np.full(len(low), np.nan), where=count > 0
    )
    return mean
