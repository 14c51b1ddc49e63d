"""A sound for the scenes: surf, which swells and falls like waves on a beach."""

from __future__ import annotations

import numpy as np

from rushes.media.audio import AudioTrack

RATE = 16000
_SWELL_S = 1.6
_SMOOTH = 24


def surf(seconds: float) -> AudioTrack:
    """Noise without its highest part, swelling every 1.6 s; the same samples every time."""
    count = round(seconds * RATE)
    noise = np.random.Generator(np.random.PCG64(11)).standard_normal(count + _SMOOTH)
    low = np.convolve(noise, np.hanning(_SMOOTH + 1), mode="valid")[:count] / np.sqrt(_SMOOTH * 3 / 8)
    swell = 0.35 + 0.65 * np.sin(np.pi * np.arange(count) / (RATE * _SWELL_S)) ** 2
    return AudioTrack.of((0.09 * low * swell).astype(np.float32), RATE)
