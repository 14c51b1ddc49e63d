"""The sound's spectrum frame by frame of the picture: log energy in twelve mel bands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.vision.speech.spectra import RATE, slaney_bands

BANDS = 12
_FFT, _HOP = 512, 160
_FLOOR = 1e-6
"""Of the loudest band: quieter is silence, 60 dB under it."""
_BLOCK = 4000


def frame_bands(samples: NDArray[np.float32], starts_s: NDArray[np.float64], fps: float) -> NDArray[np.float64]:
    """Mean log energy of each band in each frame (T × 12), from 32 ms (Hann) every 10 ms at 16 kHz; NaN without sound.

    `starts_s` is when each frame starts; the last one lasts 1 / fps.
    """
    count = max(0, (len(samples) - _FFT) // _HOP + 1)
    if not count:
        return np.full((len(starts_s), BANDS), np.nan)
    pieces = np.lib.stride_tricks.sliding_window_view(samples, _FFT)[::_HOP][:count]
    window, triangles = np.hanning(_FFT), slaney_bands(BANDS, _FFT).T
    energy = np.concatenate(
        [
            np.abs(np.fft.rfft(pieces[first : first + _BLOCK] * window, axis=1)) ** 2 @ triangles
            for first in range(0, count, _BLOCK)
        ]
    )
    level = np.log(np.maximum(energy, max(float(energy.max()) * _FLOOR, 1e-20)))
    middles = (np.arange(count) * _HOP + _FFT / 2) / RATE
    edges = np.append(starts_s, starts_s[-1:] + 1 / fps)
    low, high = np.searchsorted(middles, edges[:-1]), np.searchsorted(middles, edges[1:])
    sums = np.vstack([np.zeros(BANDS), np.cumsum(level, axis=0)])
    length = (high - low)[:, np.newaxis]
    mean: NDArray[np.float64] = np.where(length > 0, (sums[high] - sums[low]) / np.maximum(length, 1), np.nan)
    return mean
