"""What a few whole frames look like in detail: noise, banding, blocks, seams, combs, clipped colour.

Frames are taken 0.1, 1, 2, 4, 8 … s into the clip: a longer clip costs hardly more. Each takes about 2 ms at 512 × 512,
so this is looked at only where a metric asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.one_thread import on_one_thread
from rushes.media import Frame
from rushes.media.alike.frames import AlikeFrame

FIRST_MS, SECOND_MS = 100.0, 1000.0
CROP = 384
"""Rows and columns around the centre in which noise, blocks and combs are looked for."""
SMALLEST = 96
BLOCK = 8
"""Pixels of a coded block."""
_NOISE = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
PERIODS = (4, 8, 16, 32)
"""Levels between two steps of a picture of 6, 5, 4 and 3 bits."""
_BESIDE = (0.83, 0.9, 1.11, 1.21)

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


class SampleWatch:
    """Looks at some frames of one clip as it is decoded."""

    def __init__(self) -> None:
        self._next = FIRST_MS
        self._start: float | None = None
        self._before: Grey | None = None
        self._rows: list[tuple[float, ...]] = []
        self._seen = False

    def add(self, frame: Frame | AlikeFrame) -> None:
        """The next frame. A comb shows where something moves, so the frame before one that is looked at is kept."""
        self._start = frame.time_ms if self._start is None else self._start
        time = frame.time_ms - self._start
        if time >= self._next:
            grey = _grey(frame)
            if min(grey.shape) >= SMALLEST:
                self._rows.append(on_one_thread(lambda: self._look(frame, grey)))
            self._next = SECOND_MS if self._next == FIRST_MS else 2 * self._next
            self._before = None
            self._seen = True
        elif time >= self._next - 150.0:
            self._before = _grey(frame)

    def _look(self, frame: Frame | AlikeFrame, grey: Grey) -> tuple[float, ...]:
        middle = centre(grey)
        before = None if self._before is None or self._before.shape != grey.shape else centre(self._before)
        rgb = frame.rgb()
        return (
            frame.time_ms,
            noise_level(middle),
            static_part(middle),
            banding(rgb),
            blocking(middle),
            seams(grey),
            0.0 if before is None else combing(middle, before),
            clipped_colour(rgb),
            float(np.quantile(grey[::4, ::4], 0.995)),
            second_channel(rgb),
        )

    def finish(self) -> PictureSamples | str:
        """What was seen, or why there is nothing to say."""
        if not self._rows:
            return f"frames of less than {SMALLEST} pixels" if self._seen else "the clip is too short"
        return PictureSamples(*map(tuple, zip(*self._rows, strict=True)))


def _grey(frame: Frame | AlikeFrame) -> Grey:
    """Luma on 0–255, not turned."""
    plane = frame.luma
    return (plane.values.astype(np.float32) - np.float32(plane.offset)) * np.float32(plane.scale)


def centre(grey: Grey) -> Grey:
    """The middle of a picture, at most `CROP` × `CROP`, from a multiple of 16 on: coded blocks stay in place."""
    top, left = (max(0, side - CROP) // 32 * 16 for side in grey.shape)
    return grey[top : top + CROP, left : left + CROP]


def noise_level(grey: Grey) -> float:
    """σ of the noise in the quietest quarter of 8 × 8 blocks, levels; 0 where all are black or white.

    The mask of Immerkær 1996, [1 −2 1; −2 4 −2; 1 −2 1], sees no plane, slope or straight edge along an axis; of white
    noise its absolute value has the mean 6 σ √(2/π). Blocks darker than 16 or lighter than 239 are left out: clipping
    hides their noise.
    """
    response = _blocks(np.abs(cv2.filter2D(grey, cv2.CV_32F, _NOISE))[1:-1, 1:-1])
    light = _blocks(grey[1:-1, 1:-1])
    quiet = response[(light > 16) & (light < 239)]
    if len(quiet) < 8:
        return 0.0
    return float(np.quantile(quiet, 0.25)) * float(np.sqrt(np.pi / 2)) / 6


def _blocks(values: Grey) -> Grey:
    """Means of 8 × 8, as one row."""
    rows, columns = values.shape[0] // BLOCK, values.shape[1] // BLOCK
    part = values[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    return np.asarray(part.mean(axis=(1, 3)).ravel())


def static_part(grey: Grey) -> float:
    """Share of 16 × 16 blocks in which neighbouring pixels have nothing to do with each other.

    With m the mean of a block and v its variance, those with v ≥ 15² whose covariance with the pixel to the right and
    with the one below is at most 0.3 v each. Lenses, sensors and codecs make neighbours alike; static does not.
    """
    mean = _coarse(grey[:-1, :-1])
    spread = _coarse(grey[:-1, :-1] ** 2) - mean**2
    right = _coarse(grey[:-1, :-1] * grey[:-1, 1:]) - mean * _coarse(grey[:-1, 1:])
    below = _coarse(grey[:-1, :-1] * grey[1:, :-1]) - mean * _coarse(grey[1:, :-1])
    return float(((spread >= 225.0) & (np.maximum(right, below) <= 0.3 * spread)).mean())


def banding(rgb: NDArray[np.uint8]) -> float:
    """How strongly a channel's histogram repeats every 4, 8, 16 or 32 levels: |Σ h(v) e^{2πiv/p}| / Σ h.

    Of this the largest at periods beside p is taken off. Levels below 4 and above 251 are left out.
    """
    part = rgb[::2, ::2]
    found = [0.0]
    for channel in range(3):
        counts = np.bincount(part[..., channel].ravel(), minlength=256)[4:252].astype(np.float64)
        if counts.sum() >= 0.2 * part[..., channel].size:
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
    for across in (grey, grey.T):
        steps = np.abs(np.diff(across, axis=1)).mean(axis=0)
        excess = steps[1:-1] - (steps[:-2] + steps[2:]) / 2
        found.append(max(excess[phase::BLOCK].mean() for phase in range(BLOCK)) / (steps.mean() + 0.3))
    return float(max(0.0, np.mean(found)))


def seams(grey: Grey) -> float:
    """How much of the height and of the width the third longest straight seam takes: tiles have three and more.

    A seam is a step between two columns (rows) that is 1.5 levels larger than the two on either side; its length is the
    share of rows (columns; every third is looked at) with such a step. Of columns and rows the smaller counts.
    """
    found = []
    for across in (grey[::3], grey.T[::3]):
        steps = np.abs(np.diff(across, axis=1))
        beside = np.maximum(np.maximum(steps[:, :-4], steps[:, 1:-3]), np.maximum(steps[:, 3:-1], steps[:, 4:]))
        found.append(float(np.sort((steps[:, 2:-2] - beside > 1.5).mean(axis=0))[-3]))
    return min(found)


def combing(grey: Grey, before: Grey) -> float:
    """Distance of lines from those around them over the distance of those from each other, where the picture moves.

    Of 16 × 16 blocks that differ from the frame before by 2 levels or more, the 90th percentile of
    mean|Y_y − (Y_{y−1} + Y_{y+1}) / 2| / (mean|Y_{y+1} − Y_{y−1}| + 1); 0 where fewer than six do. White noise
    has 0.87, two fields of a moving thing more than 1.
    """
    line = np.abs(grey[1:-1] - (grey[:-2] + grey[2:]) / 2)
    field = np.abs(grey[2:] - grey[:-2])
    moved, lines, fields_apart = (_coarse(values) for values in (np.abs(grey - before)[1:-1], line, field))
    ratios = lines[moved >= 2] / (fields_apart[moved >= 2] + 1)
    return float(np.quantile(ratios, 0.9)) if len(ratios) >= 6 else 0.0


def _coarse(values: Any) -> Any:
    """Means of 16 × 16, as one row."""
    rows, columns = values.shape[0] // 16, values.shape[1] // 16
    return values[: rows * 16, : columns * 16].reshape(rows, 16, columns, 16).mean(axis=(1, 3)).ravel()


def clipped_colour(rgb: NDArray[np.uint8]) -> float:
    """Share of pixels with one channel at 250 or more and another at 8 or less."""
    part = rgb[::2, ::2]
    return float(((part.max(axis=2) >= 250) & (part.min(axis=2) <= 8)).mean())


def second_channel(rgb: NDArray[np.uint8]) -> float:
    """98th percentile of the second strongest channel over that of the strongest; 1 where all is black."""
    _, middle, top = np.sort(np.quantile(rgb[::4, ::4].reshape(-1, 3), 0.98, axis=0)).tolist()
    return float(middle / top) if top >= 16 else 1.0


NAMES = tuple(field.name for field in fields(PictureSamples))[1:]
