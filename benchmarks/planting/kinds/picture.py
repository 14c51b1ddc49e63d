"""Faults of the picture: frozen, flickering, soft, torn, black, and half its rate."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from ..source import Pixels, Source
from .colour import GREEN


def freeze_tail(source: Source, seconds: float) -> Source:
    """The last `seconds`, or the last quarter where that is longer and a second or more is asked, hold one frame."""
    held = max(seconds, source.seconds / 4) if seconds >= 1 else seconds
    first = source.index(source.seconds - held)
    return source.changed({n: source.frames[first] for n in range(first, len(source.frames))})


def strobe(source: Source, levels: float) -> Source:
    """Every second frame brighter by `levels` of 255, the others darker by as much."""
    return replace(source, frames=[_brighter(f, levels if n % 2 else -levels) for n, f in enumerate(source.frames)])


def _brighter(frame: Pixels, levels: float) -> Pixels:
    return np.clip(frame.astype(np.int16) + round(levels), 0, 255).astype(np.uint8)


def soft(source: Source, part: float) -> Source:
    """Gaussian blur with sigma = height / `part`, so that a film at any size is as soft to the eye."""
    sigma = source.frames[0].shape[0] / part
    return replace(source, frames=[cv2.GaussianBlur(frame, (0, 0), sigma) for frame in source.frames])


def glitch(source: Source, kinds: tuple[str, ...]) -> Source:
    """Single damaged frames, spread evenly over the clip, one of each kind named."""
    spots = [len(source.frames) * (n + 1) // (len(kinds) + 1) for n in range(len(kinds))]
    return source.changed({spot: _GLITCHES[kind](source.frames, spot) for spot, kind in zip(spots, kinds, strict=True)})


def _torn(frames: object, spot: int) -> Pixels:
    """Three bands slide sideways by a quarter of the width, to and fro."""
    out = _at(frames, spot).copy()
    height, width = out.shape[:2]
    for band in range(3):
        rows = slice(height * (2 * band + 1) // 7, height * (2 * band + 2) // 7)
        out[rows] = np.roll(out[rows], (width // 4) * (-1) ** band, axis=1)
    return out


def _inverted(frames: object, spot: int) -> Pixels:
    return 255 - _at(frames, spot)


def _green(frames: object, spot: int) -> Pixels:
    """The lower right quarter is one green block, as where macroblocks are lost."""
    out = _at(frames, spot).copy()
    out[out.shape[0] // 2 :, out.shape[1] // 2 :] = GREEN
    return out


def _foreign(frames: object, spot: int) -> Pixels:
    """A frame from the other half of the clip."""
    count = len(frames)  # type: ignore[arg-type]
    return _at(frames, (spot + count // 2) % count)


def _at(frames: object, spot: int) -> Pixels:
    return frames[spot]  # type: ignore[index, no-any-return]


_GLITCHES = {"torn": _torn, "inverted": _inverted, "green": _green, "foreign": _foreign}


def black_gap(source: Source, seconds: float) -> Source:
    """Black frames for so long in the middle."""
    count = max(1, round(seconds * float(source.fps)))
    first = (len(source.frames) - count) // 2
    black = np.zeros_like(source.frames[0])
    return source.changed(dict.fromkeys(range(first, first + count), black))


def doubled(source: Source, every: int) -> Source:
    """Every `every`-th frame repeats the one before it: with 2, half the rate in effect."""
    kept = [source.frames[n - 1 if n % every == every - 1 else n] for n in range(len(source.frames))]
    return replace(source, frames=kept)


def moves(source: Source, *, first: int = 0) -> bool:
    """Whether neighbouring frames differ at all from here on: a still clip cannot be frozen any further.

    The mean absolute difference of a step is below 0.05 of 255 only where the picture is held.
    """
    steps = [
        float(cv2.absdiff(source.frames[n], source.frames[n - 1]).mean()) for n in range(first + 1, len(source.frames))
    ]
    return bool(steps) and float(np.mean([step > 0.05 for step in steps])) > 0.5
