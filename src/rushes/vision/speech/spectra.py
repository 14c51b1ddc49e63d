"""Mel spectra as the speech networks were trained on them: Kaldi's filter banks, and Whisper's log-mel."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RATE = 16000
Array = NDArray[np.float64]
Samples = NDArray[np.float32]

_KALDI_FRAME, _KALDI_HOP, _KALDI_FFT = 400, 160, 512
_LEAST = float(np.finfo(np.float32).eps)
_WHISPER_FFT, _WHISPER_HOP = 400, 160


def kaldi_fbank(samples: Samples, *, bands: int = 80) -> NDArray[np.float32]:
    """Log energies in mel bands, frames × bands, less their mean over the frames.

    As `torchaudio.compliance.kaldi.fbank(num_mel_bins=80, dither=0)`: whole frames of 25 ms every 10 ms, each less its
    mean, pre-emphasis 0.97, Povey's window, power of a 512-point transform, triangles from 20 Hz to 8 kHz on the mel
    scale 1127 ln(1 + f / 700).
    """
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64), _KALDI_FRAME)[::_KALDI_HOP]
    centred = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([centred[:, :1], centred[:, :-1]], axis=1)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_KALDI_FRAME) / (_KALDI_FRAME - 1))) ** 0.85
    power = np.abs(np.fft.rfft((centred - 0.97 * before) * window, _KALDI_FFT, axis=1)) ** 2
    energies = np.log(np.maximum(power[:, : _KALDI_FFT // 2] @ _kaldi_bands(bands).T, _LEAST))
    found: NDArray[np.float32] = (energies - energies.mean(axis=0)).astype(np.float32)
    return found


@lru_cache(maxsize=1)
def _kaldi_bands(bands: int) -> Array:
    """Triangles that are even on the mel scale, bands × 256."""
    mel = 1127 * np.log1p(np.arange(_KALDI_FFT // 2) * RATE / _KALDI_FFT / 700)
    low, high = 1127 * np.log1p(20 / 700), 1127 * np.log1p(RATE / 2 / 700)
    edges = low + np.arange(bands + 2) * (high - low) / (bands + 1)
    left, middle, right = (edges[start : start + bands, np.newaxis] for start in range(3))
    found: Array = np.maximum(0, np.minimum((mel - left) / (middle - left), (right - mel) / (right - middle)))
    return found


def whisper_mel(samples: Samples) -> NDArray[np.float32]:
    """Whisper's log-mel of 30 s, 80 × 3000; a shorter sound is followed by silence, a longer one is cut.

    Frames of 400 (Hann) every 160 around reflected edges, 80 Slaney triangles, log10 not lower than 8 under its
    maximum, (x + 4) / 4.
    """
    length = 30 * RATE
    sound = np.zeros(length)
    sound[: min(length, len(samples))] = samples[:length]
    padded = np.pad(sound, _WHISPER_FFT // 2, mode="reflect")
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WHISPER_FFT) / _WHISPER_FFT)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WHISPER_FFT)[::_WHISPER_HOP][:-1]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    level = np.log10(np.maximum(slaney_bands(80, _WHISPER_FFT) @ power.T, 1e-10))
    found: NDArray[np.float32] = ((np.maximum(level, level.max() - 8) + 4) / 4).astype(np.float32)
    return found


@lru_cache(maxsize=2)
def slaney_bands(bands: int, fft: int) -> Array:
    """Triangles of unit area on Slaney's mel scale (even to 1 kHz, then logarithmic), bands × (fft / 2 + 1)."""
    knee_hz, step_hz, step_log = 1000.0, 200 / 3, np.log(6.4) / 27
    knee = knee_hz / step_hz
    highest = knee + np.log(RATE / 2 / knee_hz) / step_log
    mels = np.linspace(0, highest, bands + 2)
    edges = np.where(mels < knee, mels * step_hz, knee_hz * np.exp((np.maximum(mels, knee) - knee) * step_log))
    low, middle, high = (edges[start : start + bands, np.newaxis] for start in range(3))
    hertz = np.arange(fft // 2 + 1) * RATE / fft
    rise, fall = (hertz - low) / (middle - low), (high - hertz) / (high - middle)
    found: Array = np.maximum(0, np.minimum(rise, fall)) * 2 / (high - low)
    return found
