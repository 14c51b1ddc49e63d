"""Faults of shape: noise, warps, things that appear, parts that stand still, tiles in the wrong place."""

from __future__ import annotations

import zlib
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from ..source import Pixels, Source
from .colour import during, each, pixels


def rng_of(source: Source, salt: str) -> np.random.Generator:
    """Decided by the clip's name and the fault, so that a clip is planted the same way every time."""
    return np.random.default_rng(zlib.crc32(f"{source.name}|{salt}".encode()))


def grain(source: Source, sigma: float) -> Source:
    """Gray Gaussian noise, new in every frame."""
    rng = rng_of(source, "grain")
    shape = (*source.frames[0].shape[:2], 1)
    return replace(source, frames=[pixels(f + rng.normal(0, sigma, shape).astype(np.float32)) for f in source.frames])


def remapped(frame: Pixels, dx: NDArray[np.float32], dy: NDArray[np.float32]) -> Pixels:
    """Each pixel taken from so far away."""
    height, width = frame.shape[:2]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return cv2.remap(frame, x + dx, y + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)


def smooth_field(rng: np.random.Generator, shape: tuple[int, int], cells: int) -> NDArray[np.float32]:
    """Smooth noise of unit spread with so many bumps across the height."""
    height, width = shape
    small = rng.normal(size=(cells, max(2, round(cells * width / height)))).astype(np.float32)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)


def melt(source: Source, share: float) -> Source:
    """Shapes run, by `share` of the height at the end; it starts after a third of the clip."""
    rng, shape = rng_of(source, "melt"), source.frames[0].shape[:2]
    dx, dy = (smooth_field(rng, shape, 4) * share * shape[0] for _ in "xy")
    return each(source, lambda frame, t: remapped(frame, dx * _grown(t), dy * _grown(t)) if t > 1 / 3 else frame)


def _grown(t: float) -> np.float32:
    return np.float32((t - 1 / 3) * 1.5)


def boiling(source: Source, px: float) -> Source:
    """A small warp, new in every frame."""
    rng, shape = rng_of(source, "boil"), source.frames[0].shape[:2]
    frames = [remapped(f, smooth_field(rng, shape, 8) * px, smooth_field(rng, shape, 8) * px) for f in source.frames]
    return replace(source, frames=frames)


def wobble(source: Source, share: float) -> Source:
    """Rows slide to and fro in a wave that rolls down the picture three times a second."""
    height, width = source.frames[0].shape[:2]
    rows = np.arange(height, dtype=np.float32)[:, None]
    fps = float(source.fps)

    def rolled(n: int, frame: Pixels) -> Pixels:
        wave = share * height * np.sin(2 * np.pi * (2 * rows / height - 3 * n / fps))
        return remapped(frame, np.repeat(wave, width, axis=1).astype(np.float32), np.zeros_like(frame[..., 0], "f4"))

    return replace(source, frames=[rolled(n, frame) for n, frame in enumerate(source.frames)])


def jitter(source: Source, part: float) -> Source:
    """Every frame is shifted at random by up to height / `part`."""
    rng, reach = rng_of(source, "jitter"), source.frames[0].shape[0] / part
    moves = [np.array([[1, 0, x], [0, 1, y]]) for x, y in rng.uniform(-reach, reach, (len(source.frames), 2))]
    return replace(source, frames=[_shifted(f, m) for f, m in zip(source.frames, moves, strict=True)])


def _shifted(frame: Pixels, move: NDArray[np.float64]) -> Pixels:
    size = (frame.shape[1], frame.shape[0])
    return cv2.warpAffine(frame, move, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)


def sized_like(frame: Pixels, like: Pixels) -> Pixels:
    return cv2.resize(frame, (like.shape[1], like.shape[0]), interpolation=cv2.INTER_AREA)


def morph(source: Source, other: Source, seconds: float) -> Source:
    """From the middle on the picture dissolves into another clip within so long."""
    first, length = len(source.frames) // 2, max(1, round(seconds * float(source.fps)))

    def mixed(n: int) -> Pixels:
        weight = min(1.0, (n - first + 1) / length)
        foreign = sized_like(other.frames[n % len(other.frames)], source.frames[n])
        return cv2.addWeighted(source.frames[n], 1 - weight, foreign, weight, 0)

    return source.changed({n: mixed(n) for n in range(first, len(source.frames))})


def pop(source: Source, other: Source, share: float) -> Source:
    """A piece of another clip, `share` of the height and width, is there for half a second."""
    height, width = source.frames[0].shape[:2]
    h, w = round(height * share), round(width * share)
    top, left = (int(rng_of(source, "pop").integers(0, side)) for side in (height - h, width - w))
    piece = cv2.resize(other.frames[len(other.frames) // 2], (w, h), interpolation=cv2.INTER_AREA)

    def put(frame: Pixels) -> Pixels:
        out = frame.copy()
        out[top : top + h, left : left + w] = piece
        return out

    return during(source, put, "0.5 s")


def smeared_third(source: Source, seconds: float) -> Source:
    """The lower third is smeared sideways for so long."""
    height, width = source.frames[0].shape[:2]
    count, rows = round(seconds * float(source.fps)), slice(2 * height // 3, height)
    first = max(0, (len(source.frames) - count) // 2)

    def smeared(frame: Pixels) -> Pixels:
        out = frame.copy()
        out[rows] = cv2.blur(frame[rows], (width // 3, 5))
        return out

    return source.changed({n: smeared(source.frames[n]) for n in range(first, min(len(source.frames), first + count))})


def combing(source: Source, every: int) -> Source:
    """Odd rows come from the frame after: two fields woven into one picture, in every `every`-th frame."""
    changed = {}
    for n in range(0, len(source.frames) - 1, every):
        changed[n] = source.frames[n].copy()
        changed[n][1::2] = source.frames[n + 1][1::2]
    return source.changed(changed)


def ghosting(source: Source, count: int) -> Source:
    """Each frame is the mean of itself and the `count` − 1 before it."""
    frames = [pixels(np.mean(source.frames[max(0, n - count + 1) : n + 1], axis=0)) for n in range(len(source.frames))]
    return replace(source, frames=frames)


def blended(source: Source, count: int) -> Source:
    """Each frame is the mean of `count` frames around it."""
    before = count // 2
    parts = [source.frames[max(0, n - before) : n - before + count] for n in range(len(source.frames))]
    return replace(source, frames=[pixels(np.mean(part, axis=0)) for part in parts])


HALVES = {"left and right": (0, 1), "top and bottom": (1, 0), "quarters": (1, 1)}


def swapped_halves(source: Source, which: str) -> Source:
    """Two halves change places, or the quarters across."""
    down, right = HALVES[which]

    def moved(frame: Pixels) -> Pixels:
        height, width = frame.shape[:2]
        return np.roll(frame, (down * (height // 2), right * (width // 2)), axis=(0, 1))

    return each(source, lambda frame, t: moved(frame))


def rolling(source: Source, speed: float) -> Source:
    """The picture rolls down by so many of its heights a second; what leaves below comes in above."""
    return _rolled(source, speed, axis=0)


def rolling_sideways(source: Source, speed: float) -> Source:
    """The same to the right, by widths."""
    return _rolled(source, speed, axis=1)


def _rolled(source: Source, speed: float, axis: int) -> Source:
    fps, side = float(source.fps), source.frames[0].shape[axis]
    frames = [np.roll(frame, round(n / fps * speed * side), axis=axis) for n, frame in enumerate(source.frames)]
    return replace(source, frames=frames)


def letterbox(source: Source, share: float) -> Source:
    """Bars of `share` of the height above and below, from the middle on; the picture stays."""
    bar = round(source.frames[0].shape[0] * share)

    def barred(frame: Pixels) -> Pixels:
        out = frame.copy()
        out[:bar] = out[-bar:] = 0
        return out

    return during(source, barred, "second half")


def stretched(source: Source, factor: float) -> Source:
    """The second half is wider by `factor`, cut to the same size."""
    height, width = source.frames[0].shape[:2]
    left = round(width * (factor - 1) / 2)

    def wider(frame: Pixels) -> Pixels:
        return np.ascontiguousarray(cv2.resize(frame, (round(width * factor), height))[:, left : left + width])

    return during(source, wider, "second half")


def watermark(source: Source, alpha: float) -> Source:
    """White letters over the centre, through the whole clip."""
    height, width = source.frames[0].shape[:2]
    mask = np.zeros((height, width), np.uint8)
    scale = width / 230
    cv2.putText(mask, "PREVIEW", (round(width * 0.1), round(height * 0.58)), 0, scale, 255, max(2, round(2 * scale)))
    weight = (mask.astype(np.float32) / 255 * alpha)[..., None]
    return each(source, lambda frame, t: pixels(frame * (1 - weight) + 255 * weight))


def half_frozen(source: Source, share: float) -> Source:
    """The right half of the picture stands still for the last `share` of the clip."""
    first = round(len(source.frames) * (1 - share))
    middle = source.frames[0].shape[1] // 2
    still = source.frames[min(first, len(source.frames) - 1)][:, middle:]
    return source.changed(
        {n: np.hstack([source.frames[n][:, :middle], still]) for n in range(first, len(source.frames))}
    )


def white_noise(source: Source, part: str) -> Source:
    """The picture is replaced by noise."""
    rng = rng_of(source, "white")
    return during(source, lambda frame: rng.integers(0, 256, frame.shape, dtype=np.uint8), part)


def scrambled(source: Source, part: str) -> Source:
    """A grid of 4 × 4 tiles in another order."""
    order = rng_of(source, "tiles").permutation(16)

    def moved(frame: Pixels) -> Pixels:
        out = frame.copy()
        h, w = frame.shape[0] // 4, frame.shape[1] // 4
        for to, at in enumerate(order):
            tile = frame[at // 4 * h : (at // 4 + 1) * h, at % 4 * w : (at % 4 + 1) * w]
            out[to // 4 * h : (to // 4 + 1) * h, to % 4 * w : (to % 4 + 1) * w] = tile
        return out

    return during(source, moved, part)


def upside_down(source: Source, part: str) -> Source:
    """Turned by half a turn."""
    return during(source, lambda frame: np.ascontiguousarray(frame[::-1, ::-1]), part)
