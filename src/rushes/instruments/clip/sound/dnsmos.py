"""DNSMOS, Microsoft's two networks that hear how good speech is, run as the package `speechmos` 0.0.1.1 runs them.

The sound is taken at 16 kHz in mono, in stretches of 9.01 s that begin a second apart; a shorter sound is doubled until
it is long enough. One network (P.835) takes the samples and gives three numbers, which a polynomial brings onto the
scale of the listening test; the other (P.808) takes a mel spectrogram and gives one. The mean over the stretches is the
value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.media import AudioTrack
from rushes.vision.models.cache import model_path
from rushes.vision.speech.spectra import slaney_bands

RATE = 16000
STRETCH_S = 9.01
P835_FILE, P808_FILE = "dnsmos-p835.onnx", "dnsmos-p808.onnx"
FITS = (
    (-0.08397278, 1.22083953, 0.0052439),
    (-0.13166888, 1.60915514, -0.39604546),
    (-0.06766283, 1.11546468, 0.04602535),
)
"""From the P.835 network's numbers to opinions: square, slope and constant for speech, background and overall."""
MELS = 120
_FFT = 321
_HOP = 160
_LEAST_POWER = 1e-10
_DYNAMIC_DB = 80.0

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Mean opinions over the stretches of a sound."""

    speech: float
    background: float
    overall: float
    stretches: int


def stretches(samples: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The parts of a sound that the networks hear, each of 144,160 samples.

    The published code cuts from `int(k · 16000)` to `int((k + 9.01) · 16000)` and passes over what is a sample short.
    In binary fractions that is the case for k from 7 to 23, so those stretches are left out here as well: a sound of 16
    to 33 s is judged by its first seven.

    >>> [len(stretches(np.zeros(seconds * 16000, np.float32))) for seconds in (1, 10, 11, 20, 40)]
    [7, 1, 2, 7, 14]
    """
    length = int(STRETCH_S * RATE)
    while len(samples) < length:
        samples = np.concatenate([samples, samples])
    count = int(len(samples) // RATE - STRETCH_S) + 1
    cuts = (samples[k * RATE : int((k + STRETCH_S) * RATE)] for k in range(count))
    return [cut for cut in cuts if len(cut) == length]


@lru_cache(maxsize=1)  # three metrics ask for the same sound in turn
def p835(track: AudioTrack) -> Opinions:
    """Speech, background and overall quality, as ITU-T P.835 asks for them."""
    raw = np.array([_network(P835_FILE, part[np.newaxis]) for part in stretches(track.samples)], dtype=np.float64)
    fitted = [np.polyval(fit, raw[:, column]).mean() for column, fit in enumerate(FITS)]
    speech, background, overall = (float(value) for value in fitted)
    return Opinions(speech=speech, background=background, overall=overall, stretches=len(raw))


def p808(track: AudioTrack) -> tuple[float, int]:
    """Overall quality, as ITU-T P.808 asks for it, and the stretches behind it."""
    heard = [_network(P808_FILE, mel_levels(part[:-_HOP])[np.newaxis]) for part in stretches(track.samples)]
    return float(np.mean([float(values[0]) for values in heard])), len(heard)


def mel_levels(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mel spectrogram in decibels under its own maximum, frames × 120; 0 dB is 1, −40 dB is 0, −80 dB the lowest.

    Frames of 321 samples (Hann), one every 160, the first around sample 0 with zeros before it.
    """
    padded = np.pad(samples.astype(np.float64), _FFT // 2)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FFT) / _FFT)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    mel = np.maximum(power @ slaney_bands(MELS, _FFT).T, _LEAST_POWER)
    level = np.maximum(10 * np.log10(mel / mel.max()), -_DYNAMIC_DB)
    found: NDArray[np.float32] = ((level + 40) / 40).astype(np.float32)
    return found


def _network(file: str, values: NDArray[np.float32]) -> Array:
    """One row of outputs."""
    from rushes.instruments.clip.frames.one_thread import on_one_thread

    network = _loaded(file)

    def forward() -> Any:
        network.setInput(np.ascontiguousarray(values))
        return network.forward()

    row: Array = np.asarray(on_one_thread(forward), dtype=np.float64)[0]
    return row


@lru_cache(maxsize=2)
def _loaded(file: str) -> Any:
    import cv2

    return cv2.dnn.readNetFromONNX(str(model_path(file)))
