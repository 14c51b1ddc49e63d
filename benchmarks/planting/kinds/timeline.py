"""Faults of time: repeats, loops, reversals, jumps, wrong speed, and one picture for a clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..source import SOUND_RATE, Source
from .structure import rng_of


def ordered(source: Source, order: Sequence[int]) -> Source:
    """The frames in this order; the sound stays, cut or padded to the new length."""
    length = round(len(order) / source.fps * SOUND_RATE)
    sound = None if source.sound is None else np.resize(source.sound, length)
    return replace(source, frames=[source.frames[n] for n in order], sound=sound)


def stutter(source: Source, every: int) -> Source:
    """One frame in `every` repeats the one before it."""
    return ordered(source, [n - 1 if n % every == every - 1 else n for n in range(len(source.frames))])


def looped(source: Source, parts: int) -> Source:
    """The first of so many equal parts over and over."""
    period = max(1, len(source.frames) // parts)
    return ordered(source, [n % period for n in range(len(source.frames))])


def looped_seconds(source: Source, seconds: float) -> Source:
    """The first seconds over and over."""
    period = max(1, round(seconds * float(source.fps)))
    return ordered(source, [n % period for n in range(len(source.frames))])


def reversed_part(source: Source, share: float) -> Source:
    """The middle `share` of the clip runs backwards."""
    count = len(source.frames)
    first, after = round(count * (1 - share) / 2), round(count * (1 + share) / 2)
    return ordered(source, [*range(first), *reversed(range(first, after)), *range(after, count)])


def reversed_half(source: Source, which: str) -> Source:
    """The "first half" or the "second half" runs backwards, or "each half" for itself."""
    count, middle = len(source.frames), len(source.frames) // 2
    first, second = range(middle), range(middle, count)
    order = [
        *(reversed(first) if which != "second half" else first),
        *(reversed(second) if which != "first half" else second),
    ]
    return ordered(source, order)


def jump_cut(source: Source, seconds: float) -> Source:
    """So much of the middle is missing."""
    count, lost = len(source.frames), round(seconds * float(source.fps))
    first = (count - lost) // 2
    return ordered(source, [*range(first), *range(first + lost, count)])


def faster_half(source: Source, factor: float) -> Source:
    """The second half runs `factor` times as fast."""
    middle = len(source.frames) // 2
    rest = np.arange(middle, len(source.frames), factor).astype(int)
    return ordered(source, [*range(middle), *(int(n) for n in rest)])


def slideshow(source: Source, seconds: float) -> Source:
    """One picture for so long, then the next; 0: one picture for the whole clip."""
    hold = round(seconds * float(source.fps)) or len(source.frames)
    return ordered(source, [n // hold * hold for n in range(len(source.frames))])


def shuffled(source: Source, size: int) -> Source:
    """Groups of so many frames, each in another order; 0: all frames."""
    rng, count = rng_of(source, "shuffle"), len(source.frames)
    size = size or count
    order: list[int] = []
    for first in range(0, count, size):
        group = np.arange(first, min(count, first + size))
        mixed = rng.permutation(group)
        while len(group) > 1 and (mixed == group).all():
            mixed = rng.permutation(group)
        order += [int(n) for n in mixed]
    return ordered(source, order)
