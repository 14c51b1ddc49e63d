"""What a few whole frames look like in detail: noise, banding, blocks, seams, combs, clipped colour.

Frames are taken 0.1, 1, 2, 4, 8 … s into the clip: a longer clip costs hardly more. Each takes about 1 ms at 512 × 512,
so this is looked at only where a metric asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.luma_sums import Plane
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.instruments.clip.frames.quantiles import linear_quantile
from rushes.instruments.clip.frames.sample_kernels import (
    ColourCounts,
    Middle,
    colour_counts,
    middle,
    seam_counts,
    yuv_colour_counts,
)
from rushes.instruments.clip.frames.wrapped_edges import wrapped
from rushes.media import Frame
from rushes.media.alike.frames import AlikeFrame
from rushes.media.luma import LumaPlane

FIRST_MS, SECOND_MS = 100.0, 1000.0
CROP = 384
"""Rows and columns around the centre in which noise, blocks and combs are looked for."""
SMALLEST = 96
BLOCK = 8
"""Pixels of a coded block."""
PERIODS = (4, 8, 16, 32)
"""Levels between two steps of a picture of 6, 5, 4 and 3 bits."""
_BESIDE = (0.83, 0.9, 1.11, 1.21)
_SPREAD, _TOGETHER = 225.0, 0.3
"""Variance of a block from which it may be static, and the part of it that neighbours then share at most."""
_SEAM = 1.5
_MOVED = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class PictureSamples:
    """One value per frame looked at, all on luma or RGB of 0–255."""

    time_ms: tuple[float, ...]
    noise: tuple[float, ...]
    static: tuple[float, ...]
    banding: tuple[float, ...]
    blocking: tuple[float, ...]
    seams: tuple[float, ...]
    wrapped: tuple[float, ...]
    combing: tuple[float, ...]
    clipped_colour: tuple[float, ...]
    peak: tuple[float, ...]
    second_channel: tuple[float, ...]
    quantiser: tuple[float, ...]
    """NaN where the stream does not say."""


class SampleWatch:
    """Looks at some frames of one clip as it is decoded."""

    def __init__(self) -> None:
        self._next = FIRST_MS
        self._start: float | None = None
        self._before: Frame | AlikeFrame | None = None
        self._rows: list[_Seen] = []
        self._seen = False

    def add(self, frame: Frame | AlikeFrame) -> None:
        """The next frame. A comb shows where something moves, so the frame before one that is looked at is kept."""
        self._start = frame.time_ms if self._start is None else self._start
        time = frame.time_ms - self._start
        if time >= self._next:
            if min(frame.luma.values.shape) >= SMALLEST:
                self._rows.append(on_one_thread(lambda: self._look(frame)))
            self._next = SECOND_MS if self._next == FIRST_MS else 2 * self._next
            self._before = None
            self._seen = True
        elif time >= self._next - 150.0:
            self._before = frame

    def _look(self, frame: Frame | AlikeFrame) -> _Seen:
        plane = frame.luma
        before = None if self._before is None else self._before.luma
        return _Seen(
            frame.time_ms,
            middle_of(plane, None if before is None or before.values.shape != plane.values.shape else before),
            colours(frame),
            seam_length(plane),
            wrapped(plane),
            peak(plane.values, plane.scale, plane.offset),
            frame.quantiser if isinstance(frame, Frame) else math.nan,
        )

    def finish(self) -> PictureSamples | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            return f"frames of less than {SMALLEST} pixels" if self._seen else "the clip is too short"
        return PictureSamples(*map(tuple, zip(*map(_values, self._rows), strict=True)))


class _Seen(NamedTuple):
    """What is kept of a frame: values are made of it at the end, of all frames together, when caches are warm."""

    time_ms: float
    middle: Middle
    colours: ColourCounts
    seam_length: float
    wrapped: float
    peak: float
    quantiser: float


def _values(seen: _Seen) -> tuple[float, ...]:
    """In the order of `PictureSamples`."""
    middle, colours = seen.middle, seen.colours
    blocks = noise_level(middle), static_part(middle), banding(colours.half), blocking(middle)
    rest = clipped_colour(colours), seen.peak, second_channel(colours.quarter), seen.quantiser
    return (seen.time_ms, *blocks, seen.seam_length, seen.wrapped, combing(middle), *rest)


def middle_of(plane: LumaPlane, before: LumaPlane | None) -> Middle:
    """What is found of the middle of a picture; `before` is the frame before, of the same size."""
    then = None if before is None else before._replace(values=centre(before.values))
    now = plane._replace(values=centre(plane.values))
    return middle(now, then, spread=_SPREAD, share=_TOGETHER, moves=_MOVED)


def centre(picture: Any) -> Any:
    """The middle of a picture, at most `CROP` × `CROP`, from a multiple of 16 on: coded blocks stay in place."""
    top, left = (max(0, side - CROP) // 32 * 16 for side in picture.shape)
    return picture[top : top + CROP, left : left + CROP]


def noise_level(found: Middle) -> float:
    """σ of the noise in the quietest quarter of 8 × 8 blocks, levels; 0 where all are black or white.

    The mask of Immerkær 1996, [1 −2 1; −2 4 −2; 1 −2 1], sees no plane, slope or straight edge along an axis; of white
    noise its absolute value has the mean 6 σ √(2/π). Blocks darker than 16 or lighter than 239 are left out: clipping
    hides their noise.
    """
    quiet = np.sort(found.response[(found.light > 16) & (found.light < 239)])
    if len(quiet) < 8:
        return 0.0
    return linear_quantile(quiet.__getitem__, len(quiet), 0.25) * math.sqrt(math.pi / 2) / 6


def static_part(found: Middle) -> float:
    """Share of 16 × 16 blocks in which neighbouring pixels have nothing to do with each other.

    With m the mean of a block and v its variance, those with v ≥ 15² whose covariance with the pixel to the right and
    with the one below is at most 0.3 v each. Lenses, sensors and codecs make neighbours alike; static does not.
    """
    return found.static / found.blocks if found.blocks else math.nan


def colours(frame: Frame | AlikeFrame) -> ColourCounts:
    """How often each channel has each level, of the upright picture; it is not made where that is known without it."""
    stored = frame.planes() if isinstance(frame, Frame) else None
    return colour_counts(frame.rgb()) if stored is None else yuv_colour_counts(stored)


def clipped_colour(seen: ColourCounts) -> float:
    """Share of burnt pixels: those with one channel at 250 or more and another at 8 or less."""
    return float(seen.burnt / seen.half[0].sum())


def _counts(plane: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How often each level occurs; OpenCV counts in 32-bit floats, exact up to 2²⁴."""
    if plane.size > 1 << 24:
        return np.bincount(plane.ravel(), minlength=256)
    return cast("NDArray[np.int64]", cv2.calcHist([plane], [0], None, [256], [0, 256]).astype(np.int64).ravel())


def banding(levels: NDArray[np.int64]) -> float:
    """How strongly a channel's histogram repeats every 4, 8, 16 or 32 levels: |Σ h(v) e^{2πiv/p}| / Σ h.

    Of this the largest at periods beside p is taken off. Levels below 4 and above 251 are left out, and a channel with
    less than a fifth of its pixels between them.
    """
    found = [0.0]
    for channel in levels:
        counts = channel[4:252].astype(np.float64)
        if counts.sum() >= 0.2 * channel.sum():
            strengths = np.abs(_WAVES @ counts) / counts.sum()
            found += (strengths[:, 0] - strengths[:, 1:].max(axis=1)).tolist()
    return float(max(found))


_WAVES = np.array([[np.exp(2j * np.pi * np.arange(4, 252) / (p * b)) for b in (1.0, *_BESIDE)] for p in PERIODS])


def blocking(found: Middle) -> float:
    """How far the differences of neighbours stand out every 8 pixels, over the mean difference + 0.3 levels.

    Of each column of differences the mean of the columns beside it is taken off; the largest mean over columns 8 apart
    counts, and the same of rows; the value is the mean of both.
    """
    values = []
    for steps in (found.right, found.below):
        excess = steps[1:-1] - (steps[:-2] + steps[2:]) / 2
        values.append(_of_phases(excess) / (steps.mean() + 0.3))
    return float(max(0.0, np.mean(values)))


def _of_phases(values: NDArray[Any]) -> Any:
    """The largest mean of values 8 apart."""
    most, longer = -(-len(values) // BLOCK), len(values) % BLOCK or BLOCK
    padded = np.zeros(most * BLOCK, values.dtype)
    padded[: len(values)] = values
    phases = np.ascontiguousarray(padded.reshape(most, BLOCK).T)
    means = [phases[:longer].mean(axis=1), phases[longer:, :-1].mean(axis=1)]
    return np.concatenate(means).max()


def seam_length(plane: LumaPlane) -> float:
    """How much of the height and of the width the third longest straight seam takes: tiles have three and more.

    A seam is a step between two columns (rows) that is 1.5 levels larger than the two on either side; its length is the
    share of rows (columns; every third is looked at) with such a step. Of columns and rows the smaller counts.
    """
    down, across = seam_counts(plane, _SEAM)
    height, width = (-(-side // 3) for side in plane.values.shape)
    return float(min(_third(down) / height, _third(across) / width))


def _third(values: Any) -> Any:
    return np.sort(values)[-3]


def combing(found: Middle) -> float:
    """Distance of lines from those around them over the distance of those from each other, where the picture moves.

    Of 16 × 16 blocks that differ from the frame before by 2 levels or more, the 90th percentile of
    mean|Y_y − (Y_{y−1} + Y_{y+1}) / 2| / (mean|Y_{y+1} − Y_{y−1}| + 1); 0 where fewer than six do. White noise
    has 0.87, two fields of a moving thing more than 1.
    """
    if len(found.combs) < 6:
        return 0.0
    return linear_quantile(np.sort(found.combs).__getitem__, len(found.combs), 0.9)


def peak(plane: Plane, scale: float, offset: float) -> float:
    """99.5th percentile of luma on 0–255, of every fourth row and column."""
    part = np.ascontiguousarray(plane[::4, ::4])
    if part.dtype == np.uint8:
        at = _in_order(_counts(cast("NDArray[np.uint8]", part)))
    else:
        at = np.sort(part.ravel()).__getitem__
    level = lambda rank: (np.float32(at(rank)) - np.float32(offset)) * np.float32(scale)  # noqa: E731
    return linear_quantile(level, part.size, 0.995)


def _in_order(counts: NDArray[np.int64]) -> Callable[[int], int]:
    """The value of each rank, from how often each value occurs."""
    ends = np.cumsum(counts)
    return lambda rank: int(np.searchsorted(ends, rank, side="right"))


def second_channel(levels: NDArray[np.int64]) -> float:
    """98th percentile of the second strongest channel over that of the strongest; 1 where all is black."""
    found = (linear_quantile(_in_order(channel), int(channel.sum()), 0.98) for channel in levels)
    _, middle, top = sorted(found)
    return middle / top if top >= 16 else 1.0


NAMES = tuple(field.name for field in fields(PictureSamples))[1:]
