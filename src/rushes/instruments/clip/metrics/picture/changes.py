"""What several metrics of the picture ask of the grid: cuts, fades, and how light and colour change as a whole.

A thing that moves changes some blocks; a change of light or of grading changes all of them alike. So the change of the
whole picture is the *median* of the changes of its blocks, and summing it up step by step gives a path that follows
light and colour through motion and pans, and stops at cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rushes.instruments.clip.frames.grid_kernels import correlation_sums
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.quantiles import medians, quantile

Series = NDArray[np.float64]
Flags = NDArray[np.bool_]

CUT = 0.8
"""Correlation of two grids below which the picture is another one."""
FLAT_SHARE = 0.15
"""Share of the clip's usual contrast below which a frame is empty: the end of a fade."""
PATH_MS = 80.0
"""Time between two frames of a path, at least."""
COLOURED, ENOUGH = 4.0, 0.2
"""Chroma levels from which a block has a hue, and the share of such blocks from which the picture has one."""
VIVID = 8.0
"""Chroma levels from which the angle of a hue is certain."""
_STALLED = 3


@lru_cache(maxsize=2)
def kept(grid: PictureGrid) -> Series:
    """Correlation of the luma grids of neighbouring frames, one shorter than the frames; 1 where one is flat."""
    return correlations(grid.luma[:-1], grid.luma[1:])


def correlations(before: Any, after: Any) -> Series:
    """Pearson's r of each pair of grids."""
    both, each = correlation_sums(*(x.reshape(len(x), -1) for x in (before, after)))
    spread = np.sqrt(each)
    return np.asarray(np.where(spread > 1e-6, both / np.maximum(spread, 1e-6), 1.0))


def correlation(before: Any, after: Any) -> float:
    """The same of one pair."""
    return float(correlations(before[None], after[None])[0])


@lru_cache(maxsize=2)
def fading(grid: PictureGrid) -> Flags:
    """Frames of a fade: empty ones, and those on either side for as long as the contrast grows away from them."""
    contrast = grid.luma.reshape(len(grid), -1).std(1).astype(np.float64)
    empty: Flags = contrast < FLAT_SHARE * quantile(contrast, 0.75)
    if not empty.any():
        return empty
    return np.asarray(_growing(contrast, empty) | _growing(contrast[::-1], empty[::-1])[::-1])


def _growing(contrast: Series, empty: Flags) -> Flags:
    found, most, stalled = empty.copy(), 0.0, _STALLED
    for frame, value in enumerate(contrast.tolist()):
        if empty[frame]:
            most, stalled = value, 0
        elif stalled < _STALLED:
            most, stalled = (value, 0) if value > 1.002 * most else (most, stalled + 1)
            found[frame] = stalled < _STALLED
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CommonPath:
    """How light and colour of the whole picture change, in levels from the first frame; one value per frame taken."""

    frames: NDArray[np.int64]
    light: Series
    blue: Series
    red: Series
    hue: Series
    """Along the circle of hues, at the saturation that the blocks have."""
    saturation: Series
    turn: Series
    """Along the circle of hues in degrees, of blocks whose hue is certain."""
    luma: Series
    """Luma of the blocks, two by two, of each frame taken."""
    colour: Series
    """Mean distance of its blocks from grey, chroma levels; unlike the others no change, but what each frame has."""


@lru_cache(maxsize=2)
def common_path(grid: PictureGrid, times_ms: tuple[float, ...]) -> CommonPath:
    """The path of a clip; it stands still over cuts (r < 0.8) and fades."""
    frames = _apart(times_ms)
    luma, blue, red = (_coarse(values[frames]) for values in (grid.luma, grid.blue, grid.red))
    dark = fading(grid)[frames]
    moves = (correlations(luma[:-1], luma[1:]) >= CUT) & ~dark[1:] & ~dark[:-1]
    colour = blue.astype(np.complex128) + 1j * red
    strength = np.abs(colour)
    usual = (strength[1:] + strength[:-1]) / 2
    has_hue = np.minimum(strength[1:], strength[:-1]) >= COLOURED
    product = colour[1:] * colour[:-1].conj()
    turned = product.imag / np.maximum(usual, 1.0)
    is_vivid = np.minimum(strength[1:], strength[:-1]) >= VIVID
    steps = [medians(np.diff(values, axis=0)) for values in (luma, blue, red)]
    steps += [_median_where(values, has_hue) for values in (turned, np.diff(strength, axis=0))]
    steps.append(_median_where(np.degrees(np.angle(product)), is_vivid))
    light, cast_blue, cast_red, hue, saturation, turn = (_added_up(step * moves) for step in steps)
    return CommonPath(frames, light, cast_blue, cast_red, hue, saturation, turn, luma, strength.mean(axis=1))


def _added_up(steps: Series) -> Series:
    """The path that these steps make, from 0 on."""
    path = np.zeros(len(steps) + 1)
    np.cumsum(steps, out=path[1:])
    return path


def _apart(times_ms: tuple[float, ...]) -> NDArray[np.int64]:
    """Frames `PATH_MS` or more apart, the first and the last among them."""
    found, last = [0], times_ms[0]
    for frame, time in enumerate(times_ms):
        if time >= last + PATH_MS:
            found.append(frame)
            last = time
    return np.array(found if found[-1] == len(times_ms) - 1 else [*found, len(times_ms) - 1])


def _coarse(blocks: Any) -> Series:
    """frames × blocks, each the mean of two by two."""
    rows, columns = max(1, blocks.shape[1] // 2), max(1, blocks.shape[2] // 2)
    part = blocks[:, : 2 * rows, : 2 * columns].astype(np.float64)
    if min(blocks.shape[1:]) < 2:
        return np.asarray(blocks.reshape(len(blocks), -1), dtype=np.float64)
    pairs = part[:, :, ::2] + part[:, :, 1::2]
    return np.asarray(((pairs[:, ::2] + pairs[:, 1::2]) / 4).reshape(len(part), rows * columns))


def _median_where(values: Series, where: Flags) -> Series:
    """Lower median of each row over the blocks that count; 0 where these are fewer than a fifth."""
    ranked = np.sort(np.where(where, values, np.inf), axis=1)
    counts = where.sum(axis=1)
    middle = ranked[np.arange(len(ranked)), np.maximum(counts - 1, 0) // 2]
    return np.where(counts >= ENOUGH * values.shape[1], middle, 0.0)


def smoothed(values: Series, length: int) -> Series:
    """Moving average over so many values, the ends repeated.

    >>> smoothed(np.array([0.0, 0.0, 3.0, 3.0]), 3).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    length = max(1, min(length, len(values)))
    before, after = length // 2, length - 1 - length // 2
    padded = np.concatenate([values[:1].repeat(before), values, values[-1:].repeat(after)])
    return np.asarray(sliding_window_view(padded, length).mean(axis=1))


def around(values: Any, reach: int) -> Any:
    """The largest of the `reach` values before and after each, without itself, along the first axis; 0 beyond the ends.

    >>> around(np.array([1.0, 5.0, 2.0, 0.0]), 1).tolist()
    [5.0, 2.0, 5.0, 2.0]
    """
    found = np.zeros_like(values)
    for step in range(1, min(reach, len(values) - 1) + 1):
        np.maximum(found[step:], values[:-step], out=found[step:])
        np.maximum(found[:-step], values[step:], out=found[:-step])
    return found
