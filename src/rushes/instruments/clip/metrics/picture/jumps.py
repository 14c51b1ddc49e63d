"""Jumps that no cut makes: colour_step, picture_turned, picture_stretched, end_frame_jump."""

from __future__ import annotations

from functools import partial
from typing import Any

import cv2
import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.spans import Span, spanned
from rushes.instruments.clip.metrics.making import from_zero, of_grid, share
from rushes.instruments.clip.metrics.picture.changes import around, correlation, fading, kept

SAME = 0.85
OTHER, STEADY = 0.6, 0.9
"""Correlation below which a picture is another one, and above which those around it are one shot."""
FAINT = 6.0
"""Contrast of the blocks, levels, below which nothing is said of how they are arranged."""
STRETCHES = (1.1, 1.2, 1.33, 1.5, 1.78)
LIKE = 0.9
END_MS, END_STEP, END_REACH = 400.0, 6.0, 8
COLOURED_MS, COLOURED = 1000.0, 20.0
"""A stretch of one colour, with so many chroma levels in the mean, is sought that far into the clip."""
STRAY_MS = 130.0
"""Up to this long another picture at an end is a stray one; a longer one is a shot, and what follows it a cut."""

_GRID = "of the grid (16 blocks along the shorter side)"
_jump = partial(
    from_zero,
    better="lower",
    reference="beside MetricBundleV1",
    depends_on=("fps", "duration", "transfer", "luma"),
)
COLOUR_STEP = _jump(
    name="colour_step",
    unit="chroma levels",
    summary="Largest jump of colour from one frame to the next while the picture stays the same: chunks that were "
    "graded apart, colour lost, or red and blue changing places on the way.",
    formula=f"largest s_t − max(s of the two steps before and after), s_t = mean over blocks {_GRID} of "
    f"|Δ(Cb, Cr)|, full range, of steps whose luma grids correlate with r ≥ {SAME:g} and that are in no fade",
    edge_cases="Fewer than four frames: no value. A cut changes the grid as well and does not count.",
    params=signature_params(plane="chroma", range="full", same=SAME),
    raised_by=("coloured light switched on or off", "windows opening in a screen recording"),
    lowered_by=("a clip of little colour", "compression"),
)
PICTURE_TURNED = share(
    name="picture_turned",
    better="lower",
    summary="How well one frame is the one before it with its parts rearranged or its light inverted: a picture that "
    "is suddenly upside down, mirrored, scrambled or negative.",
    formula=f"largest max(1 − mean|sort(a) − sort(b)| / mean|a − b|, −r) over steps with r < {OTHER:g} whose two "
    f"neighbours on either side have r ≥ {STEADY:g}; a, b the luma blocks {_GRID} before and after, r their "
    "correlation",
    edge_cases=f"Fewer than four frames: no value. Blocks with a contrast below {FAINT:g} levels are not judged. A "
    "clip that is upside down or negative from beginning to end has no such step.",
    reference="beside MetricBundleV1",
    params=signature_params(other=OTHER, plane="luma", steady=STEADY),
    depends_on=("fps", "duration"),
    raised_by=("a cut between two views of one scene",),
    lowered_by=("fast motion around the step",),
)
PICTURE_STRETCHED = _jump(
    name="picture_stretched",
    unit="1",
    summary="How much better a frame fits the one before it when that is stretched: a change of aspect within a shot.",
    formula=f"largest r(stretched) − r over steps that are three times those around them, r(stretched) the highest "
    f"correlation of the luma grids with either stretched along one axis by {', '.join(map(str, STRETCHES))} about the "
    f"centre, where that reaches {LIKE:g}",
    edge_cases=f"Fewer than four frames: no value. No such step, or a contrast below {FAINT:g} levels: 0.",
    params=signature_params(like=LIKE, plane="luma", stretches="+".join(map(str, STRETCHES))),
    raised_by=("a zoom within one frame",),
    lowered_by=("fast motion around the step", "a picture without structure"),
)
END_FRAME_JUMP = _jump(
    name="end_frame_jump",
    unit="1",
    summary="How far the first or the last frames stand out from those beside them: a flash, a green or foreign frame "
    "at an end of the clip.",
    formula=f"largest s_t / (m + 1) of the steps within {END_MS:g} ms of an end, m the largest of the {END_REACH} "
    f"steps before and after; s_t = mean over blocks {_GRID} of |ΔY| + |ΔCb| + |ΔCr|, of which "
    f"{END_STEP:g} levels are needed. What lies beyond the step is one frame or {STRAY_MS:g} ms at most, or is flat "
    f"(blocks with a deviation below {FAINT:g} levels), or is the picture next to it in another light (|r| ≥ "
    f"{OTHER:g} across the step); where it is flat and has {COLOURED:g} chroma levels, within {COLOURED_MS:g} ms",
    edge_cases="Fewer than six frames: no value. At most a quarter of the clip counts as an end, at most half where it "
    "is of one colour. A fade has no step that stands out. "
    f"Another scene that lasts longer than {STRAY_MS:g} ms is a shot, and its end a cut.",
    params=signature_params(
        coloured=COLOURED,
        coloured_ms=COLOURED_MS,
        end_ms=END_MS,
        flat=FAINT,
        least=END_STEP,
        reach=END_REACH,
        same=OTHER,
        stray_ms=STRAY_MS,
    ),
    history=(
        "first release",
        "a shot before a cut is no stray frame; a longer stretch of one colour is",
        "a stretch of one colour may fill half of a short clip",
    ),
    raised_by=("a cut within three frames of an end",),
    lowered_by=("fast motion beside it",),
)
_SHORT = "needs at least {} frames"


def colour_step(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest jump of colour; see `COLOUR_STEP`."""
    if len(grid) < 4:
        return Measurement.missing(COLOUR_STEP, _SHORT.format("four"))
    steps = np.hypot(np.diff(grid.blue, axis=0), np.diff(grid.red, axis=0)).mean(axis=(1, 2)).astype(np.float64)
    dark = fading(grid)
    judged = (kept(grid) >= SAME) & ~dark[1:] & ~dark[:-1]
    excess = np.where(judged, steps - around(steps, 2), 0.0)
    return _largest(COLOUR_STEP, np.maximum(excess, 0.0), times_ms)


def picture_turned(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The step that is best explained by rearranging; see `PICTURE_TURNED`."""
    if len(grid) < 4:
        return Measurement.missing(PICTURE_TURNED, _SHORT.format("four"))
    alike = kept(grid)
    broken = 1.0 - alike
    scores = np.zeros(len(alike))
    for step in np.flatnonzero((alike < OTHER) & (around(broken, 2) <= 1.0 - STEADY)):
        scores[step] = _rearranged(grid.luma[step], grid.luma[step + 1], float(alike[step]))
    return _largest(PICTURE_TURNED, scores, times_ms)


def _rearranged(before: Any, after: Any, alike: float) -> float:
    if min(before.std(), after.std()) < FAINT:
        return 0.0
    sorted_apart = np.abs(np.sort(before, axis=None) - np.sort(after, axis=None)).mean(dtype=np.float64)
    return float(max(0.0, 1.0 - sorted_apart / np.abs(before - after).mean(dtype=np.float64), -alike))


def picture_stretched(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The step that is best explained by stretching; see `PICTURE_STRETCHED`."""
    if len(grid) < 4:
        return Measurement.missing(PICTURE_STRETCHED, _SHORT.format("four"))
    steps = np.abs(np.diff(grid.luma, axis=0)).mean(axis=(1, 2), dtype=np.float64)
    alike = kept(grid)
    scores = np.zeros(len(steps))
    for step in np.flatnonzero((steps >= 3 * around(steps, 2) + 1) & (alike < 0.97)):
        if min(grid.luma[step].std(), grid.luma[step + 1].std()) < FAINT:
            continue
        best = _best_stretched(grid.luma[step], grid.luma[step + 1])
        scores[step] = best - alike[step] if best >= LIKE else 0.0
    return _largest(PICTURE_STRETCHED, np.maximum(scores, 0.0), times_ms)


def _best_stretched(before: Any, after: Any) -> float:
    """The highest correlation of one with the other stretched, either way."""
    rows, columns = before.shape
    found = []
    for factor in STRETCHES:
        for height, width in ((round(rows * factor), columns), (rows, round(columns * factor))):
            top, left = (height - rows) // 2, (width - columns) // 2
            for one, other in ((before, after), (after, before)):
                wide = cv2.resize(one, (width, height), interpolation=cv2.INTER_LINEAR)
                found.append(correlation(wide[top : top + rows, left : left + columns], other))
    return max(found)


def end_frame_jump(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The step near an end that stands out most; its span reaches to that end. See `END_FRAME_JUMP`."""
    if len(grid) < 6:
        return Measurement.missing(END_FRAME_JUMP, _SHORT.format("six"))
    planes = (grid.luma, grid.blue, grid.red)
    steps = sum(np.abs(np.diff(plane, axis=0)).mean(axis=(1, 2), dtype=np.float64) for plane in planes)
    steps = np.asarray(steps)
    times = np.asarray(times_ms, dtype=np.float64)
    scores = np.where(steps >= END_STEP, steps / (around(steps, END_REACH) + 1), 0.0)
    reach = len(steps) // 2
    value, span = 0.0, None
    for place in (*range(reach), *range(len(steps) - reach, len(steps))):
        beyond = slice(0, place + 1) if place < reach else slice(place + 1, len(grid))
        if scores[place] > value and _is_stray(grid, times, place, beyond):
            value = float(scores[place])
            span = Span(times[0], times[place + 1]) if place < reach else Span(times[place + 1], times[-1])
    return spanned(END_FRAME_JUMP, value, len(steps), span)


def _is_stray(grid: PictureGrid, times: Any, step: int, beyond: slice) -> bool:
    """Whether the frames beyond a step, up to the end of the clip, do not belong to it."""
    length = float(times[step + 1] - times[0] if beyond.start == 0 else times[-1] - times[step])
    alone = beyond.stop - beyond.start == 1 or length <= STRAY_MS
    luma = grid.luma[beyond]
    flat = float(luma.reshape(len(luma), -1).std(axis=1).max()) < FAINT
    strength = np.hypot(grid.blue[beyond], grid.red[beyond])
    if flat and float(strength.mean(dtype=np.float64)) >= COLOURED:
        return length <= COLOURED_MS
    same = abs(correlation(grid.luma[step], grid.luma[step + 1])) >= OTHER
    short = length <= END_MS and beyond.stop - beyond.start <= (len(grid) - 1) // 4
    return short and (alone or flat or same)


def _largest(definition: Definition, scores: Any, times_ms: Any) -> Measurement:
    """The largest score over steps; the note says which frame it leads to."""
    place = int(np.argmax(scores))
    return spanned(definition, float(scores[place]), len(scores), Span(times_ms[place + 1], times_ms[place + 1]))


COLOUR_STEP_METRIC = of_grid(COLOUR_STEP, colour_step, too_high="colour jumps at")
PICTURE_TURNED_METRIC = of_grid(PICTURE_TURNED, picture_turned, too_high="picture turned, scrambled or inverted at")
PICTURE_STRETCHED_METRIC = of_grid(PICTURE_STRETCHED, picture_stretched, too_high="picture stretched at")
END_FRAME_JUMP_METRIC = of_grid(END_FRAME_JUMP, end_frame_jump, too_high="stray frames")
