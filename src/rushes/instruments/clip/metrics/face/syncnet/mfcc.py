"""Mel-frequency cepstral coefficients, with the conventions SyncNet was trained on.

The choices are those of the python_speech_features package with its defaults: pre-emphasis 0.97, 25 ms frames every
10 ms, no window function, 512-point power spectrum over its length, 26 triangular mel filters from 0 to half the
rate, natural logarithm, orthonormal DCT-II, lifter 22, and the first coefficient replaced by the log energy.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RATE = 16000
COEFFICIENTS = 13
STEP = RATE // 100
_FRAME = RATE // 40
_FFT = 512
_FILTERS = 26
_EMPHASIS = 0.97
_LIFTER = 22
_TINY = float(np.finfo(float).eps)


def mfcc(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Coefficients of mono samples in [−1, 1] at 16 kHz: one row of 13 for every 10 ms.

    Samples are taken as 16-bit integers, as they would be in a wave file. No samples give no rows.
    """
    if not len(samples):
        return np.zeros((0, COEFFICIENTS))
    pcm = np.clip(np.rint(samples.astype(np.float64) * 32768), -32768, 32767)
    power = _power_spectrum(_frames(np.append(pcm[0], pcm[1:] - _EMPHASIS * pcm[:-1])))
    energy = power.sum(axis=1)
    bands = power @ _filterbank().T
    cepstrum = np.log(np.where(bands == 0, _TINY, bands)) @ _cosines().T
    cepstrum *= 1 + (_LIFTER / 2) * np.sin(np.pi * np.arange(COEFFICIENTS) / _LIFTER)
    cepstrum[:, 0] = np.log(np.where(energy == 0, _TINY, energy))
    return np.asarray(cepstrum, np.float64)


def frame_count(samples: int) -> int:
    """Rows that so many samples give: the last frame is filled with zeros.

    >>> frame_count(400), frame_count(401), frame_count(16000)
    (1, 2, 99)
    """
    return 1 if samples <= _FRAME else 1 + -(-(samples - _FRAME) // STEP)


def _frames(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    count = frame_count(len(signal))
    padded = np.zeros((count - 1) * STEP + _FRAME)
    padded[: len(signal)] = signal[: len(padded)]
    return np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::STEP]


def _power_spectrum(frames: NDArray[np.float64]) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(frames, _FFT, axis=1)
    return np.asarray((spectrum.real**2 + spectrum.imag**2) / _FFT, np.float64)


@lru_cache(maxsize=1)
def _filterbank() -> NDArray[np.float64]:
    """26 triangles over the 257 bins, evenly spaced in mel."""
    mel = np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), _FILTERS + 2)
    edges = np.floor((_FFT + 1) * 700 * (10 ** (mel / 2595) - 1) / RATE).astype(int)
    bank = np.zeros((_FILTERS, _FFT // 2 + 1))
    for row, (low, peak, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        bank[row, low:peak] = (np.arange(low, peak) - low) / max(peak - low, 1)
        bank[row, peak:high] = (high - np.arange(peak, high)) / max(high - peak, 1)
    return bank


@lru_cache(maxsize=1)
def _cosines() -> NDArray[np.float64]:
    """The first 13 rows of the orthonormal DCT-II."""
    k, n = np.arange(COEFFICIENTS)[:, None], np.arange(_FILTERS)[None, :]
    rows = np.sqrt(2 / _FILTERS) * np.cos(np.pi * k * (2 * n + 1) / (2 * _FILTERS))
    rows[0] /= np.sqrt(2)
    return np.asarray(rows, np.float64)
