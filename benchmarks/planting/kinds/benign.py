"""What belongs in clips: fades, night, candle light, flashes, cadences. A flag on it is a false alarm."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cv2
import numpy as np

from ..source import Pixels, Source
from .colour import each, pixels
from .structure import _shifted, rng_of, sized_like
from .timeline import ordered


def fade_in_and_out(source: Source) -> Source:
    """From black within 0.6 s, and back to it."""
    share = min(0.3, 0.6 / source.seconds)
    return each(source, lambda f, t: pixels(f * np.float32(min(1.0, t / share, (1 - t) / share))))


def dip_to_black(source: Source) -> Source:
    """Down to black and up again around the middle, 0.5 s each way, as between two scenes."""
    share = 0.5 / source.seconds
    return each(source, lambda f, t: pixels(f * np.float32(min(1.0, abs(t - 0.5) / share))))


def night(source: Source) -> Source:
    """A fifth of the light, and the noise of a sensor at high gain."""
    rng = rng_of(source, "night")
    return each(source, lambda f, t: pixels(f * np.float32(0.2) + 6 + rng.normal(0, 2.5, f.shape).astype("f4")))


def candle(source: Source) -> Source:
    """Warm light that wanders by about 6 %, slower than 6 Hz."""
    fps, count = float(source.fps), len(source.frames)
    wander = rng_of(source, "candle").normal(size=count + 64)
    reach = max(1, round(fps / 6))
    smooth = np.convolve(wander, np.hanning(2 * reach + 3), "same")[32 : 32 + count]
    light = 1 + 0.06 * (smooth - smooth.mean()) / max(1e-6, smooth.std())
    warm = np.array([1.0, 0.78, 0.5], np.float32) * 0.8
    frames = [pixels(f * (warm * np.float32(g))) for f, g in zip(source.frames, light, strict=True)]
    return replace(source, frames=frames)


def camera_flash(source: Source) -> Source:
    """A photographer's flash: one bright frame and its fading neighbour."""
    spot = len(source.frames) // 2
    lit = {
        spot + k: pixels(source.frames[spot + k] * np.float32(gain) + up)
        for k, gain, up in ((0, 1.4, 70), (1, 1.1, 20))
    }
    return source.changed(lit)


def hard_cut(source: Source, other: Source) -> Source:
    """Another clip from the middle on, as an edited film has it."""
    middle = len(source.frames) // 2
    rest = [
        sized_like(other.frames[n % len(other.frames)], source.frames[0]) for n in range(len(source.frames) - middle)
    ]
    return replace(source, frames=[*source.frames[:middle], *rest])


def handheld(source: Source) -> Source:
    """Slow shake of a hand: about 1 % of the height at 1 to 2 Hz."""
    fps, reach = float(source.fps), source.frames[0].shape[0] * 0.01

    def place(n: int) -> np.ndarray:  # type: ignore[type-arg]
        t = n / fps
        x = reach * (np.sin(2 * np.pi * 1.1 * t) + 0.5 * np.sin(2 * np.pi * 1.9 * t + 1))
        y = reach * (np.cos(2 * np.pi * 0.9 * t) + 0.5 * np.sin(2 * np.pi * 1.7 * t + 2))
        return np.array([[1, 0, x], [0, 1, y]])

    return replace(source, frames=[_shifted(frame, place(n)) for n, frame in enumerate(source.frames)])


def light_grain(source: Source) -> Source:
    """Film grain of 4 levels."""
    rng = rng_of(source, "film grain")
    shape = (*source.frames[0].shape[:2], 1)
    return replace(source, frames=[pixels(f + rng.normal(0, 4, shape).astype("f4")) for f in source.frames])


def slow_motion(source: Source) -> Source:
    """Half the speed, the frames between two being their mean; as long as before."""
    frames = []
    for n in range(len(source.frames)):
        a, b = source.frames[n // 2], source.frames[min(n // 2 + 1, len(source.frames) - 1)]
        frames.append(cv2.addWeighted(a, 0.5, b, 0.5, 0) if n % 2 else a)
    return replace(source, frames=frames)


def split_screen(source: Source, other: Source) -> Source:
    """Two clips side by side, the middle of each, as long as the shorter one, without sound."""
    width = source.frames[0].shape[1]
    left = slice(width // 4, width // 4 + width // 2)

    def beside(frame: Pixels, foreign: Pixels) -> Pixels:
        return np.ascontiguousarray(np.hstack([frame[:, left], sized_like(foreign, frame)[:, left]]))

    return replace(
        source, frames=[beside(*pair) for pair in zip(source.frames, other.frames, strict=False)], sound=None
    )


def mirrored(source: Source) -> Source:
    """The left half and its mirror image, as a lake or a kaleidoscope has it."""
    half = source.frames[0].shape[1] // 2
    frames = [np.ascontiguousarray(np.hstack([f[:, :half], f[:, :half][:, ::-1]])) for f in source.frames]
    return replace(source, frames=frames)


def shown_at(source: Source, distinct: int, fps: int) -> Source:
    """The clip at `distinct` pictures a second in a container of `fps`: pull-down, or animation on twos and threes."""
    own, length = float(source.fps), len(source.frames)
    order = []
    for n in range(int(source.seconds * fps)):
        shown = int(n * distinct / fps) / distinct
        order.append(min(length - 1, int(shown * own + 1e-6)))
    return replace(ordered(source, order), fps=Fraction(fps), sound=source.sound)
