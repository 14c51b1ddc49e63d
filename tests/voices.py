"""Sounds made by rule, for any suite and for the oracles: something like a voice, noise, and levels in steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def voice(seconds: float = 3.0, *, rate: int = 16000) -> NDArray[np.float32]:
    """Thirty harmonics of a tone around 120 Hz, in syllables with pauses between; 16-bit steps, peak 0.5."""
    t = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * (120 * t + 2 * np.sin(2 * np.pi * 0.7 * t))
    sound = sum(np.sin(k * phase) / k**0.8 for k in range(1, 31))
    syllables = np.sqrt(np.maximum(0, np.sin(2 * np.pi * 1.7 * t))) * (0.6 + 0.4 * np.sin(2 * np.pi * 4.3 * t))
    shaped = sound * syllables
    return in_steps(0.5 * shaped / np.abs(shaped).max())


def noisy(sound: NDArray[np.float32], *, snr_db: float, seed: int = 0) -> NDArray[np.float32]:
    """With even noise this far under it, in power; 16-bit steps."""
    noise = np.random.default_rng(seed).integers(-1000, 1001, len(sound)).astype(np.float64)
    noise *= np.sqrt(np.mean(np.square(sound, dtype=np.float64)) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    return in_steps(np.clip(sound + noise, -1, 32767 / 32768))


def in_steps(sound: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rounded to 16-bit steps, so that every machine has the same samples."""
    return (np.rint(sound * 32768) / 32768).astype(np.float32)


def tones(parts: Sequence[tuple[float, float]], *, rate: int = 16000, hz: float = 1000) -> NDArray[np.float32]:
    """One sine without a break, in parts of (seconds, peak in dBFS)."""
    peak = np.concatenate([np.full(round(seconds * rate), 10 ** (level / 20)) for seconds, level in parts])
    return (peak * np.sin(2 * np.pi * hz * np.arange(len(peak)) / rate)).astype(np.float32)
