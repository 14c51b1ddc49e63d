"""What breaks a sound: flattened peaks, holes, a direct current, a lost channel, a tone or noise in place of speech.

Everything but the tone comes from the variance and peak of every hundredth of a second, which `LevelMeter` keeps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LOUD_DB = 20.0
"""Blocks within this of the loudest are the sound itself."""
QUIETEST_DB = -60.0
"""Level of the loud blocks below which there is nothing to judge; 0 is a full-scale square wave."""
HOLE_DB, HOLE_BLOCKS, EDGE = 35.0, (2, 50), 2
"""A hole is this far under what is two blocks before and after it, and lasts 20 to 500 ms."""
TONE_WINDOW_S, TONE_SHARE = 0.128, 20.0
"""Seconds of a spectrum, and the percentile over time that a steady tone keeps up."""
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
    """First and last block of every hole: down by 35 dB within 20 ms, and up again after 20 to 500 ms."""
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
        back = end + EDGE < len(level) and float(level[end + EDGE]) >= limit + HOLE_DB - LOUD_DB / 2
        if back and least <= end - place + 1 <= most:
            found.append((place, end))
        place = end + 1
    return found


def dynamic_db(power: Floats) -> float | None:
    """How far the quiet tenth of the blocks is under the loud twentieth, dB; None of a sound that is too quiet."""
    if not loud(power).any():
        return None
    low, high = np.percentile(power, [10, 95])
    return float(decibels(high) - decibels(low))


def steady_tone(samples: NDArray[np.float32], rate: int) -> tuple[float, float] | None:
    """Level of the strongest steady tone under the whole sound, dB, and its frequency in Hz; None of near silence.

    Of every 128 ms (Hann, half overlapping) the power within three neighbouring lines; of these over time the 20th
    percentile, so that what is not there for most of the time does not count; the largest over frequencies above 30 Hz.
    """
    width = round(TONE_WINDOW_S * rate)
    if len(samples) < 2 * width:
        return None
    window = np.hanning(width)
    pieces = np.lib.stride_tricks.sliding_window_view(samples, width)[:: width // 2].astype(np.float64)
    pieces = (pieces - pieces.mean(axis=1, keepdims=True)) * window
    power = np.square(np.abs(np.fft.rfft(pieces, axis=1)))
    lines = power[:, :-2] + power[:, 1:-1] + power[:, 2:]
    hertz = np.fft.rfftfreq(width, 1 / rate)[1:-1]
    whole = float(power.sum(axis=1).mean())
    if whole / (width * float(np.square(window).sum()) / 2) < 10 ** (QUIETEST_DB / 10):
        return None
    kept = np.percentile(lines, TONE_SHARE, axis=0)
    kept[hertz < 30] = 0.0
    place = int(np.argmax(kept))
    return float(decibels(float(kept[place]) / whole)), float(hertz[place])
