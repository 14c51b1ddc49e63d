"""What breaks a sound: flattened peaks, holes, a direct current, a lost channel, a tone or noise in place of speech.

Everything but the tone comes from the variance and peak of every hundredth of a second, which `LevelMeter` keeps.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LOUD_DB = 20.0
"""Blocks within this of the loudest are the sound itself."""
QUIETEST_DB = -60.0
"""Level of the loud blocks below which there is nothing to judge; 0 is a full-scale square wave."""
HOLE_DB, HOLE_BLOCKS, EDGE = 35.0, (2, 50), 3
"""A hole is this far under what is three blocks before it, and lasts 20 to 500 ms: lossy coding blurs its edges."""
BACK_DB = 15.0
"""After a hole the sound is back within this of what it was."""
TONE_WINDOW_S, TONE_SHARE = 0.128, 20.0
"""Seconds of a spectrum, and the percentile over time that a steady tone keeps up."""
MAINS_HZ = (50.0, 60.0)
HISS_HZ, HISS_BANDS = (500.0, 7500.0), 12
END_DB, END_BLOCKS = 12.0, 2
"""A sound that breaks off is this close to its loud parts in one of its last 20 ms: a word takes longer to die away."""
_FLOOR = 1e-12


def decibels(power: Floats | float) -> Floats:
    return np.asarray(10 * np.log10(np.maximum(power, _FLOOR)))


def loud(power: Floats) -> NDArray[np.bool_]:
    """Blocks that are the sound itself: within 20 dB of the 95th percentile; none of a sound that is too quiet."""
    level = float(np.percentile(power, 95)) if len(power) else 0.0
    found: NDArray[np.bool_] = (power >= level * 10 ** (-LOUD_DB / 10)) & (decibels(level) >= QUIETEST_DB)
    return found


def crest_db(power: Floats, peak: Floats) -> float | None:
    """95th percentile of the peaks of loud blocks over the root mean square of these blocks, dB; None without any.

    A sine has 3.01, a square wave 0, speech 9 and more.
    """
    heard = loud(power)
    if not heard.any():
        return None
    return float(20 * np.log10(np.percentile(peak[heard], 95)) - 10 * np.log10(power[heard].mean()))


def holes(power: Floats) -> list[tuple[int, int]]:
    """First and last block of every hole: down by 35 dB within 30 ms, and up again after 20 to 500 ms."""
    level = decibels(power)
    least, most = HOLE_BLOCKS
    found: list[tuple[int, int]] = []
    place = EDGE
    while place < len(level) - EDGE:
        limit = float(level[place - EDGE]) - HOLE_DB
        if level[place] > limit or level[place - EDGE] < QUIETEST_DB / 2 - 10:
            place += 1
            continue
        end = place
        while end + 1 < len(level) and level[end + 1] <= limit:
            end += 1
        after = level[end + 1 : end + 1 + EDGE]
        back = len(after) == EDGE and float(after.max()) >= limit + HOLE_DB - BACK_DB
        if back and least <= end - place + 1 <= most:
            found.append((place, end))
        place = end + 1
    return found


def broken_off(power: Floats) -> int | None:
    """The block in which a sound breaks off; None where it fades, is too quiet, or goes on to its end.

    It breaks off where all that follows is under −60 dB and one of the last two blocks is within 12 dB of the 95th
    percentile.
    """
    level = decibels(power)
    heard = np.flatnonzero(level >= QUIETEST_DB)
    if not len(heard) or not loud(power).any():
        return None
    after = int(heard[-1]) + 1
    last = float(level[max(0, after - END_BLOCKS) : after].max())
    return after if last >= float(decibels(float(np.percentile(power, 95)))) - END_DB else None


def dynamic_db(power: Floats) -> float | None:
    """How far the quiet tenth of the blocks is under the loud twentieth, dB; None of a sound that is too quiet."""
    if not loud(power).any():
        return None
    low, high = np.percentile(power, [10, 95])
    return float(decibels(high) - decibels(low))


@dataclass(frozen=True, eq=False, slots=True)
class Spectra:
    """Power of a sound in lines of 7.8 Hz, every 64 ms."""

    power: Floats
    """pieces × lines."""
    hertz: Floats
    whole: float
    """Mean power of a piece, all lines together."""


def spectra(samples: NDArray[np.float32], rate: int) -> Spectra | None:
    """Of every 128 ms (Hann, half overlapping), without its mean; None of near silence and of less than 256 ms."""
    width = round(TONE_WINDOW_S * rate)
    if len(samples) < 2 * width:
        return None
    window = np.hanning(width)
    pieces = np.lib.stride_tricks.sliding_window_view(samples, width)[:: width // 2].astype(np.float64)
    pieces = (pieces - pieces.mean(axis=1, keepdims=True)) * window
    power = np.square(np.abs(np.fft.rfft(pieces, axis=1)))
    whole = float(power.sum(axis=1).mean())
    if whole / (width * float(np.square(window).sum()) / 2) < 10 ** (QUIETEST_DB / 10):
        return None
    return Spectra(power=power, hertz=np.asarray(np.fft.rfftfreq(width, 1 / rate), dtype=np.float64), whole=whole)


def steady_tone(samples: NDArray[np.float32], rate: int) -> tuple[float, float] | None:
    """Level of the strongest steady tone under the whole sound, dB, and its frequency in Hz; None of near silence.

    The power within three neighbouring lines; of these over time the 20th percentile, so that what is not there for
    most of the time does not count; the largest over frequencies above 30 Hz.
    """
    found = spectra(samples, rate)
    if found is None:
        return None
    power, hertz = found.power, found.hertz[1:-1]
    lines = power[:, :-2] + power[:, 1:-1] + power[:, 2:]
    kept = np.percentile(lines, TONE_SHARE, axis=0)
    kept[hertz < 30] = 0.0
    place = int(np.argmax(kept))
    return float(decibels(float(kept[place]) / found.whole)), float(hertz[place])


def mains_hum(samples: NDArray[np.float32], rate: int) -> tuple[float, float] | None:
    """Level of the steady tones at 50 or 60 Hz and their next two harmonics under the whole sound, dB, and which."""
    found = spectra(samples, rate)
    if found is None:
        return None
    levels = [(sum(_kept_at(found, hertz * n) for n in (1, 2, 3)), hertz) for hertz in MAINS_HZ]
    power, hertz = max(levels)
    return float(decibels(power / found.whole)), hertz


def _kept_at(found: Spectra, hertz: float) -> float:
    """What stays of the three lines around a frequency: the 20th percentile over time of their sum."""
    line = int(np.argmin(np.abs(found.hertz - hertz)))
    return float(np.percentile(found.power[:, line - 1 : line + 2].sum(axis=1), TONE_SHARE))


def white_floor(samples: NDArray[np.float32], rate: int) -> float | None:
    """Level of the loudest white noise that could lie under the whole sound, dB below it; None of near silence.

    Of twelve bands from 500 to 7500 Hz the mean power of a line in each piece; of that over time the 20th percentile;
    the smallest of the bands, times the number of lines.
    """
    found = spectra(samples, rate)
    if found is None:
        return None
    edges = np.searchsorted(found.hertz, np.linspace(*HISS_HZ, HISS_BANDS + 1))
    bands = [found.power[:, first:last].mean(axis=1) for first, last in itertools.pairwise(edges.tolist())]
    least = min(float(np.percentile(band, TONE_SHARE)) for band in bands)
    return float(decibels(least * found.power.shape[1] / found.whole))
