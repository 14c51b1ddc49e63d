"""What a few whole frames look like in detail: noise, banding, blocks, seams, combs, clipped colour.

Frames are taken 0.1, 1, 2, 4, 8 … s into the clip: a longer clip costs hardly more. Each takes about 1 ms at 512 × 512,
so this is looked at only where a metric asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.luma_sums import Plane
from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.instruments.clip.frames.quantiles import linear_quantile
from rushes.instruments.clip.frames.sample_kernels import (
    colour_counts,
    comb_ratios,
    levels,
    neighbour_steps,
    noise_blocks,
    seam_columns,
    seam_rows,
    static_blocks,
)
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

Grey = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class PictureSamples:
    """One value per frame looked at, all on luma or RGB of 0–255."""

    time_ms: tuple[float, ...]
    noise: tuple[float, ...]
    static: tuple[float, ...]
    banding: tuple[float, ...]
    blocking: tuple[float, ...]
    seams: tuple[float, ...]
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
        self._rows: list[tuple[float, ...]] = []
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

    def _look(self, frame: Frame | AlikeFrame) -> tuple[float, ...]:
        plane, rgb = frame.luma, frame.rgb()
        middle, before = _grey(centre(plane.values), plane), self._middle_before(plane.values.shape)
        counts, clipped = colours(rgb, every=2)
        return (
            frame.time_ms,
            noise_level(middle),
            static_part(middle),
            banding(counts),
            blocking(middle),
            seam_length(_grey(plane.values[::3], plane), _grey(plane.values[:, ::3], plane)),
            0.0 if before is None else combing(middle, before),
            clipped,
            peak(plane.values, plane.scale, plane.offset),
            second_channel(colours(rgb, every=4)[0]),
            frame.quantiser if isinstance(frame, Frame) else math.nan,
        )

    def _middle_before(self, shape: tuple[int, ...]) -> Grey | None:
        if self._before is None or self._before.luma.values.shape != shape:
            return None
        plane = self._before.luma
        return _grey(centre(plane.values), plane)

    def finish(self) -> PictureSamples | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            return f"frames of less than {SMALLEST} pixels" if self._seen else "the clip is too short"
        return PictureSamples(*map(tuple, zip(*self._rows, strict=True)))


def _grey(part: Plane, of: LumaPlane) -> Grey:
    """Part of a plane on 0–255, not turned."""
    return levels(part, of.scale, of.offset)


def centre(picture: Any) -> Any:
    """The middle of a picture, at most `CROP` × `CROP`, from a multiple of 16 on: coded blocks stay in place."""
    top, left = (max(0, side - CROP) // 32 * 16 for side in picture.shape)
    return picture[top : top + CROP, left : left + CROP]


def noise_level(grey: Grey) -> float:
    """σ of the noise in the quietest quarter of 8 × 8 blocks, levels; 0 where all are black or white.

    The mask of Immerkær 1996, [1 −2 1; −2 4 −2; 1 −2 1], sees no plane, slope or straight edge along an axis; of white
    noise its absolute value has the mean 6 σ √(2/π). Blocks darker than 16 or lighter than 239 are left out: clipping
    hides their noise.
    """
    response, light = noise_blocks(grey)
    quiet = np.sort(response[(light > 16) & (light < 239)])
    if len(quiet) < 8:
        return 0.0
    return linear_quantile(quiet.__getitem__, len(quiet), 0.25) * float(np.sqrt(np.pi / 2)) / 6


def static_part(grey: Grey) -> float:
    """Share of 16 × 16 blocks in which neighbouring pixels have nothing to do with each other.

    With m the mean of a block and v its variance, those with v ≥ 15² whose covariance with the pixel to the right and
    with the one below is at most 0.3 v each. Lenses, sensors and codecs make neighbours alike; static does not.
    """
    found, of = static_blocks(grey, _SPREAD, _TOGETHER)
    return found / of if of else math.nan


def colours(rgb: NDArray[np.uint8], *, every: int) -> tuple[NDArray[np.int64], float]:
    """Of every so many rows and columns: how often a channel has each level (3 × 256), and the share of burnt pixels.

    Burnt is a pixel with one channel at 250 or more and another at 8 or less.
    """
    levels, burnt = colour_counts(rgb, every)
    return levels, float(burnt / levels[0].sum())


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


def blocking(grey: Grey) -> float:
    """How far the differences of neighbours stand out every 8 pixels, over the mean difference + 0.3 levels.

    Of each column of differences the mean of the columns beside it is taken off; the largest mean over columns 8 apart
    counts, and the same of rows; the value is the mean of both.
    """
    found = []
    for steps in neighbour_steps(grey):
        excess = steps[1:-1] - (steps[:-2] + steps[2:]) / 2
        found.append(_of_phases(excess) / (steps.mean() + 0.3))
    return float(max(0.0, np.mean(found)))


def _of_phases(values: NDArray[Any]) -> Any:
    """The largest mean of values 8 apart."""
    most, longer = -(-len(values) // BLOCK), len(values) % BLOCK or BLOCK
    padded = np.zeros(most * BLOCK, values.dtype)
    padded[: len(values)] = values
    phases = np.ascontiguousarray(padded.reshape(most, BLOCK).T)
    means = [phases[:longer].mean(axis=1), phases[longer:, :-1].mean(axis=1)]
    return np.concatenate(means).max()


def seams(grey: Grey) -> float:
    """How much of the height and of the width the third longest straight seam takes: tiles have three and more.

    A seam is a step between two columns (rows) that is 1.5 levels larger than the two on either side; its length is the
    share of rows (columns; every third is looked at) with such a step. Of columns and rows the smaller counts.
    """
    return seam_length(grey[::3], grey[:, ::3])


def seam_length(rows: Grey, columns: Grey) -> float:
    """The same of every third row and of every third column."""
    down, across = seam_rows(rows, 1, _SEAM), seam_columns(columns, 1, _SEAM)
    return float(min(_third(down) / len(rows), _third(across) / len(columns.T)))


def _third(values: Any) -> Any:
    return np.sort(values)[-3]


def combing(grey: Grey, before: Grey) -> float:
    """Distance of lines from those around them over the distance of those from each other, where the picture moves.

    Of 16 × 16 blocks that differ from the frame before by 2 levels or more, the 90th percentile of
    mean|Y_y − (Y_{y−1} + Y_{y+1}) / 2| / (mean|Y_{y+1} − Y_{y−1}| + 1); 0 where fewer than six do. White noise
    has 0.87, two fields of a moving thing more than 1.
    """
    ratios = comb_ratios(grey, before, _MOVED)
    if len(ratios) < 6:
        return 0.0
    return linear_quantile(np.sort(ratios).__getitem__, len(ratios), 0.9)


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
