"""Faults of the sound: too long, late, somebody else's, silent, clipped, noisy, interrupted, too fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..source import SOUND_RATE, Source, pad
from .structure import rng_of

Floats = NDArray[np.float32]


def long_sound(source: Source, seconds: float) -> Source:
    """The sound goes on for so long after the picture has ended: its own end once more."""
    assert source.sound is not None
    extra = round(seconds * SOUND_RATE)
    tail = np.resize(source.sound[-extra:], extra)
    return replace(source, sound=np.concatenate([source.sound, tail]))


def late_sound(source: Source, seconds: float) -> Source:
    """The sound comes so much later (earlier where negative), the track as long as before; silence fills the hole."""
    assert source.sound is not None
    shift, length = round(abs(seconds) * SOUND_RATE), len(source.sound)
    late = np.concatenate([np.zeros(shift, np.float32), source.sound])[:length]
    return replace(source, sound=late if seconds > 0 else pad(source.sound[shift:], length))


def swapped_sound(source: Source, other: Source) -> Source:
    """Another speaker's sound, cut or repeated to the length of this picture."""
    assert source.sound is not None and other.sound is not None
    return replace(source, sound=np.resize(other.sound, len(source.sound)))


def _with(source: Source, samples: Floats) -> Source:
    return replace(source, sound=samples.astype(np.float32))


def _heard(source: Source) -> Floats:
    assert source.sound is not None
    return source.sound


def audible(source: Source) -> bool:
    """Whether the track holds sound at all: above −50 dBFS over the clip, and for half of it."""
    if source.sound is None:
        return False
    blocks = source.sound[: len(source.sound) // 441 * 441].reshape(-1, 441)
    levels = np.sqrt((blocks**2).mean(axis=1))
    return bool(np.sqrt((source.sound**2).mean()) > 0.003 and (levels > 0.0005).mean() > 0.5)


def silent_part(source: Source, share: float) -> Source:
    """The last `share` of the track is silence."""
    samples = _heard(source).copy()
    samples[round(len(samples) * (1 - share)) :] = 0
    return _with(source, samples)


def clipped(source: Source, decibels: float) -> Source:
    """The sound at full scale, raised by so much and cut off."""
    samples = _heard(source)
    return _with(source, np.clip(samples / np.abs(samples).max() * 10 ** (decibels / 20), -1, 1))


def offset(source: Source, shift: float) -> Source:
    """A constant added to every sample."""
    return _with(source, np.clip(_heard(source) * (1 - shift) + shift, -1, 1))


def lost_channel(source: Source, part: str) -> Source:
    """A track of two channels, the right one silent from a point on."""
    both = np.stack([_heard(source)] * 2, axis=1)
    first = {"last quarter": 0.75, "second half": 0.5, "whole clip": 0.0}[part]
    both[round(len(both) * first) :, 1] = 0
    return _with(source, both)


def two_channels(source: Source) -> Source:
    """The control of a lost channel."""
    return _with(source, np.stack([_heard(source)] * 2, axis=1))


def dropouts(source: Source, milliseconds: float) -> Source:
    """Twice a second nothing is heard for so long."""
    samples, rng = _heard(source).copy(), rng_of(source, "dropouts")
    length = round(milliseconds * SOUND_RATE / 1000)
    for start in range(SOUND_RATE // 4, len(samples) - length, SOUND_RATE // 2):
        first = start + int(rng.integers(0, SOUND_RATE // 8))
        samples[first : first + length] = 0
    return _with(source, samples)


def noisy(source: Source, decibels: float) -> Source:
    """White noise, so many decibels below the sound."""
    samples = _heard(source)
    level = float(np.sqrt((samples**2).mean())) * 10 ** (-decibels / 20)
    noise = rng_of(source, "noise").normal(0, level, len(samples))
    return _with(source, np.clip(samples + noise, -1, 1))


def hum(source: Source, decibels: float) -> Source:
    """50 Hz and two harmonics, so many decibels below the sound."""
    samples = _heard(source)
    level = float(np.sqrt((samples**2).mean())) * 10 ** (-decibels / 20)
    t = 2 * np.pi * 50 * np.arange(len(samples)) / SOUND_RATE
    tone = np.sin(t) + 0.5 * np.sin(2 * t) + 0.3 * np.sin(3 * t)
    return _with(source, np.clip(samples + level * tone / np.sqrt(0.67), -1, 1))


def faster(source: Source, percent: float) -> Source:
    """The sound runs so much faster; silence fills the end."""
    samples = _heard(source)
    places = np.arange(0, len(samples) - 1, 1 + percent / 100)
    quick = np.interp(places, np.arange(len(samples)), samples).astype(np.float32)
    return _with(source, pad(quick, len(samples)))


def tone(source: Source, part: str) -> Source:
    """A tone of 440 Hz in place of the sound, as loud."""
    samples = _heard(source).copy()
    first = {"last quarter": 0.75, "second half": 0.5, "whole clip": 0.0}[part]
    level = max(0.02, float(np.sqrt((samples**2).mean()))) * np.sqrt(2)
    sine = level * np.sin(2 * np.pi * 440 * np.arange(len(samples)) / SOUND_RATE)
    begin = round(len(samples) * first)
    samples[begin:] = sine[begin:]
    return _with(source, samples)
