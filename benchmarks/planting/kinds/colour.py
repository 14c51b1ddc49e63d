"""Faults of colour and light: drifting, stepping, lost, swapped, banded, pumping, and wrong at the beginning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from ..source import Pixels, Source

GREEN = (0, 177, 64)
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def each(source: Source, change: Callable[[Pixels, float], Pixels]) -> Source:
    """Every frame changed by how far into the clip it is, 0 to 1."""
    last = max(1, len(source.frames) - 1)
    return replace(source, frames=[change(frame, n / last) for n, frame in enumerate(source.frames)])


def during(source: Source, change: Callable[[Pixels], Pixels], part: str) -> Source:
    """Only "0.5 s" in the middle, the "second half", or the "whole clip" is changed."""
    count = len(source.frames)
    some = round(0.5 * float(source.fps))
    first, after = {
        "0.5 s": ((count - some) // 2, (count + some) // 2),
        "second half": (count // 2, count),
        "whole clip": (0, count),
    }[part]
    return source.changed({n: change(source.frames[n]) for n in range(first, after)})


def pixels(values: NDArray[np.float32]) -> Pixels:
    """Rounded and clipped to 0–255."""
    return np.clip(values + 0.5, 0, 255).astype(np.uint8)


def brighter(frame: Pixels, levels: float) -> Pixels:
    """Every plane shifted by so many levels of 255."""
    return pixels(frame.astype(np.float32) + levels)


def saturated(frame: Pixels, gain: float) -> Pixels:
    """Distance from the pixel's own gray times `gain`."""
    luma = (frame @ _LUMA)[..., None]
    return pixels(luma + (frame - luma) * gain)


def luminance_drift(source: Source, levels: float) -> Source:
    """The light changes steadily by `levels` of 255 from the first frame to the last, away from the nearer end."""
    side = -1 if float(np.mean(source.frames[0])) > 127 else 1
    return each(source, lambda frame, t: brighter(frame, side * levels * t))


def saturation_burn(source: Source, gain: float) -> Source:
    """Saturation grows steadily from 1 to `gain`, or falls to it."""
    return each(source, lambda frame, t: saturated(frame, 1 + (gain - 1) * t))


def hue_drift(source: Source, degrees: float) -> Source:
    """Hue turns steadily, by `degrees` at the end."""

    def turned(frame: Pixels, t: float) -> Pixels:
        hsv = cv2.cvtColor(frame, cv2.COLOR_RGB2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(np.int16) + round(degrees * t / 2)) % 180
        return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)

    return each(source, turned)


def colour_step(source: Source, levels: float) -> Source:
    """Three chunks, the middle one warmer by `levels` in red and blue: as where chunks were generated apart."""
    cast = np.array([levels, 0, -levels], np.float32)
    return each(source, lambda frame, t: pixels(frame + cast) if 1 / 3 <= t < 2 / 3 else frame)


def bright_cast(source: Source, levels: float) -> Source:
    """A nearly white picture, which has a warm cast from the middle on."""
    cast = np.array([0, -levels / 2, -levels], np.float32)
    return each(source, lambda frame, t: pixels(215 + frame * np.float32(40 / 255) + (cast if t >= 0.5 else 0)))


def ramped_cast(source: Source, frames: int) -> Source:
    """A cold cast of 24 levels comes in within so many frames in the middle, and stays."""
    cast, first = np.array([-24, 0, 24], np.float32), len(source.frames) // 2
    share = [min(1.0, max(0.0, (n - first + 1) / frames)) for n in range(len(source.frames))]
    return replace(source, frames=[pixels(f + cast * np.float32(s)) for f, s in zip(source.frames, share, strict=True)])


def colour_lost(source: Source, kept: float) -> Source:
    """From the middle on only this share of the colour is left."""
    return each(source, lambda frame, t: saturated(frame, kept) if t >= 0.5 else frame)


def swapped_planes(source: Source, part: str) -> Source:
    """Red and blue change places."""
    return during(source, lambda frame: np.ascontiguousarray(frame[..., ::-1]), part)


def banding(source: Source, bits: int) -> Source:
    """So many bits a plane."""
    step = 2 ** (8 - bits)
    return each(source, lambda frame, t: (frame // step * step + step // 2).astype(np.uint8))


def pumping(source: Source, levels: float) -> Source:
    """Exposure swings by ± `levels` once a second."""
    fps = float(source.fps)
    swing = [levels * np.sin(2 * np.pi * n / fps) for n in range(len(source.frames))]
    return replace(source, frames=[brighter(f, s) for f, s in zip(source.frames, swing, strict=True)])


def first_flash(source: Source, levels: float) -> Source:
    """The first frame alone is brighter by `levels`."""
    return source.changed({0: brighter(source.frames[0], levels)})


def green_start(source: Source, count: int) -> Source:
    """The first `count` frames are green."""
    green = np.full_like(source.frames[0], GREEN)
    return source.changed(dict.fromkeys(range(min(count, len(source.frames))), green))


def green_corner(source: Source, seconds: float) -> Source:
    """The upper left ninth of the picture is green for so long in the middle, as after a lost slice."""
    count, some = len(source.frames), max(1, round(seconds * float(source.fps)))
    height, width = (side // 3 for side in source.frames[0].shape[:2])
    first = (count - some) // 2
    damaged = {n: source.frames[n].copy() for n in range(first, first + some)}
    for frame in damaged.values():
        frame[:height, :width] = GREEN
    return source.changed(damaged)


def negative(source: Source, part: str) -> Source:
    """255 minus every value."""
    return during(source, lambda frame: 255 - frame, part)
