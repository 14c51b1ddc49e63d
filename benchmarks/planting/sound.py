"""Faults of the sound: too long, late, early, and somebody else's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .source import SOUND_RATE, Source, pad


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
