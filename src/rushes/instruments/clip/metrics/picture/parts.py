"""Faults of a part of the picture: frozen_part, popping_part, smeared_part, bars_step.

A real thing that stops, comes or goes does so over several frames and block by block. What is judged here happens to
many blocks in one and the same step while the rest of the picture goes on as before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.picture_grid import TEXTURE_MS, PictureGrid
from rushes.instruments.clip.frames.quantiles import median, medians
from rushes.instruments.clip.frames.spans import Span, spanned
from rushes.instruments.clip.metrics.making import of_grid, share
from rushes.instruments.clip.metrics.picture.changes import Flags, around, correlation, fading, kept

MOVING, STILL_SHARE, STILL_MS, BEFORE_MS, LEAST = 0.8, 0.12, 400.0, 300.0, 0.05
JUMP, JUMP_RATIO, POP_MS, FEWEST = 6.0, 3.0, 1500.0, 3
SMEAR, SMEAR_MS = 0.5, 2000.0
BLACK, LIT, BAR_FRAMES = 22.0, 30.0, 5
SAME = 0.9

_part = partial(
    share,
    better="lower",
    reference="beside MetricBundleV1",
    depends_on=("fps", "duration", "luma"),
)
_BLOCKS = "blocks of the grid (16 along the shorter side)"
FROZEN_PART = _part(
    name="frozen_part",
    summary="Share of the picture that stops at one instant and stays still while the rest goes on.",
    formula=f"largest share of {_BLOCKS} whose mean |ΔY| has a median of {MOVING:g} or more over {BEFORE_MS:g} ms, "
    f"and at least 0.4 of that in the last two steps, and then less than {STILL_SHARE:g} of it in all steps but one "
    f"for {STILL_MS:g} ms, where a quarter as many blocks or more keep half of their motion; the same in reverse; of "
    "the steps before, the change of the whole picture's mean luma is taken off",
    edge_cases="A clip shorter than the two times together: no value. Cuts (r < 0.6) and fades are not judged. A part "
    "that is frozen from the first frame to the last, or that never moved, is not seen. 0.05 or less: 0.",
    params=signature_params(before_ms=BEFORE_MS, moving=MOVING, still_ms=STILL_MS, still_share=STILL_SHARE),
    raised_by=("windows of a screen recording", "strong compression of a quiet scene"),
    lowered_by=("noise and grain", "a part that hardly moved"),
    history=("first release", "a change of light is no motion"),
)
POPPING_PART = _part(
    name="popping_part",
    summary="Share of the picture that jumps to something else and back within 1.5 s: a thing that pops in and out.",
    formula=f"largest share of {_BLOCKS} with a step (mean |ΔY|, and |ΔCb| + |ΔCr| of block means) above "
    f"{JUMP_RATIO:g} × the three before and after + {JUMP:g} at two times up to {POP_MS:g} ms apart, which afterwards "
    "differ from before by less than 0.4 of the jump (|ΔY| + |ΔCb| + |ΔCr| of block means); steps in which more than "
    "0.7 of the blocks jump are not judged",
    edge_cases=f"Fewer than four frames: no value. Fewer than {FEWEST} blocks do not count. One to three whole frames "
    "are odd_frame_score's.",
    params=signature_params(jump=JUMP, least=FEWEST, planes="luma+chroma", ratio=JUMP_RATIO, within_ms=POP_MS),
    raised_by=("lamps that blink", "captions and windows that come and go"),
    lowered_by=("fast motion", "a thing of the colour and the light of what it covers"),
    history=("first release", "a step of colour counts as one of light does"),
)
SMEARED_PART = _part(
    name="smeared_part",
    summary="Share of the picture that loses its texture at one instant and has it again within two seconds.",
    formula=f"largest share of {_BLOCKS} whose log texture, taken every {TEXTURE_MS:g} ms, falls by more than "
    f"{SMEAR:g} in one step, stays 0.4 below both ends, and rises by more than {SMEAR:g} up to {SMEAR_MS:g} ms later "
    "to within 0.4 of what it was; texture = mean |Y − its right neighbour| + 0.5 levels",
    edge_cases="Fewer than four samples of texture: no value. Fades are not judged.",
    params=signature_params(every_ms=TEXTURE_MS, fall=SMEAR, within_ms=SMEAR_MS),
    raised_by=("something smooth passing by quickly",),
    lowered_by=("a plain picture, which has no texture to lose",),
)
BARS_STEP = _part(
    name="bars_step",
    summary="Share of the height or width that black bars on both sides take or give back within a shot.",
    formula="largest change in one step of 2 · min(bars on either side) / blocks along that axis, the same for "
    f"{BAR_FRAMES} frames on either side, where the grids inside the bars, without the lines next to them, "
    f"correlate with r ≥ {SAME:g}; a bar is a line "
    f"of blocks at the edge whose luma is below {BLACK:g} throughout; without it that has {LIT:g} or more in the mean",
    edge_cases="Fewer than six frames: no value. Bars that are there from beginning to end: 0. Fades are not judged.",
    params=signature_params(black=BLACK, frames=BAR_FRAMES, lit=LIT, same=SAME),
    history=("first release", "bars that end within a block"),
    raised_by=("a film that changes its format on purpose",),
    lowered_by=("bars thinner than a sixteenth of the shorter side",),
)


def frozen_part(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest part that stops, or starts, at one instant; see `FROZEN_PART`."""
    usual = _usual_ms(times_ms)
    before, after = max(3, round(BEFORE_MS / usual)), max(4, round(STILL_MS / usual))
    if len(grid) - 1 < before + after:
        return Measurement.missing(FROZEN_PART, "the clip is too short")
    light = np.abs(np.diff(grid.luma.mean(axis=(1, 2), dtype=np.float64))).astype(np.float32)
    steps = grid.step[1:].reshape(len(grid) - 1, -1)
    motion = np.maximum(0.0, steps - light[:, None])
    dark = fading(grid)
    judged = (kept(grid) >= 0.6) & ~dark[1:] & ~dark[:-1]
    stops, stop = _stopping(motion, steps, judged, before, after)
    starts, start = _stopping(motion[::-1], steps[::-1], judged[::-1], before, after)
    if stops >= starts:
        return spanned(FROZEN_PART, stops, len(steps), Span(times_ms[stop], times_ms[stop + after]))
    start = len(steps) - start
    return spanned(FROZEN_PART, starts, len(steps), Span(times_ms[start - after], times_ms[start]))


def _stopping(motion: Any, steps: Any, judged: Flags, before: int, after: int) -> tuple[float, int]:
    """The largest share of blocks that stop with one step, and that step; motion is the steps without common light.

    The mean is quick and says where to look; the median, which one large step does not move, says what is there.
    """
    places = len(steps) - before - after + 1
    mean = sum((motion[step : step + places] for step in range(1, before)), motion[:places]) / np.float32(before)
    ahead = _largest_of(np.minimum(steps[before:-1], steps[before + 1 :]), after - 1)
    at_place = judged[before : before + places] & judged[before - 1 : before - 1 + places]
    # A median is at most twice the mean, so nothing is overlooked.
    onset = (np.minimum(motion[before - 2 : -1], motion[before - 1 :])[:places] >= 0.4 * MOVING) & (
        steps[before : before + places] < 2 * STILL_SHARE * mean
    )
    rough = (onset & (mean >= MOVING / 2) & (ahead < 2 * STILL_SHARE * mean)).mean(axis=1) * at_place
    best, found = LEAST, before
    for place in np.argsort(-rough, kind="stable").tolist():
        if rough[place] <= best:
            break
        share_here = _stopped(motion[place : place + before], steps[place + before : place + before + after])
        best, found = (share_here, place + before) if share_here > best else (best, found)
    return (best if best > LEAST else 0.0), found


def _largest_of(values: Any, count: int) -> Any:
    """Of each row and the ones after it, so many together, the largest values; rows with fewer are left out."""
    found, reach = values, 1
    while reach < count:
        step = min(reach, count - reach)
        found, reach = np.maximum(found[:-step], found[step:]), reach + step
    return found


def _stopped(before: Any, after: Any) -> float:
    """Share of blocks that move before and stand still after; 0 where nothing else goes on."""
    usual, low, now = medians(before.T), before[-2:].min(axis=0), np.sort(after, axis=0)
    still = np.maximum(after[0], now[-2])  # all steps but one, in which an encoder refines a frozen picture
    stops = (usual >= MOVING) & (low >= 0.4 * usual) & (before[-1] <= 3 * usual + 2) & (still < STILL_SHARE * usual)
    goes_on = (usual >= MOVING / 2) & (medians(after.T) >= 0.5 * usual)
    return float(stops.mean()) if goes_on.sum() >= 0.25 * stops.sum() else 0.0


def popping_part(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest part that jumps and jumps back; see `POPPING_PART`."""
    if len(grid) < 4:
        return Measurement.missing(POPPING_PART, "needs at least four frames")
    colour = np.stack([plane.reshape(len(grid), -1) for plane in (grid.luma, grid.blue, grid.red)], axis=1)
    steps = grid.step.reshape(len(grid), -1).copy()
    steps[1:] += np.abs(np.diff(colour[:, 1:], axis=0)).sum(axis=1)
    jumps = steps > JUMP_RATIO * around(steps, 3) + JUMP
    counts = jumps.sum(axis=1)
    frames = np.flatnonzero((counts >= FEWEST) & (counts <= 0.7 * jumps.shape[1])).tolist()
    value, span = 0.0, None
    for position, here in enumerate(frames):
        away = np.abs(colour[here] - colour[here - 1]).sum(axis=0)
        for there in frames[position + 1 :]:
            if times_ms[there] - times_ms[here] > POP_MS:
                break
            back = np.abs(colour[there] - colour[here - 1]).sum(axis=0)
            found = int((jumps[here] & jumps[there] & (back < 0.4 * away)).sum())
            if found >= FEWEST and found / jumps.shape[1] > value:
                value, span = found / jumps.shape[1], Span(times_ms[here], times_ms[there])
    return spanned(POPPING_PART, value, len(grid) - 1, span)


def smeared_part(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest part that loses its texture for a while; see `SMEARED_PART`."""
    texture = np.log(grid.texture.reshape(len(grid.texture), -1) + 0.5)
    if len(texture) < 4:
        return Measurement.missing(SMEARED_PART, "the clip is too short")
    times = [times_ms[frame] for frame in grid.textured]
    dark = fading(grid)[grid.textured]
    change = np.diff(texture, axis=0)
    change[dark[1:] | dark[:-1]] = 0.0
    falls, rises = change < -SMEAR, change > SMEAR
    value, span = 0.0, None
    fallen = falls.mean(axis=1)
    for first in np.argsort(-fallen, kind="stable").tolist():
        if fallen[first] <= value:
            break
        most = texture[first + 1]
        for last in range(first + 1, len(change)):
            if times[last + 1] - times[first + 1] > SMEAR_MS:
                break
            most = np.maximum(most, texture[last])
            ends = texture[first], texture[last + 1]
            good = falls[first] & rises[last] & (most < np.minimum(*ends) - 0.4) & (np.abs(ends[1] - ends[0]) < 0.4)
            if last > first + 1 and float(good.mean()) > value:
                value, span = float(good.mean()), Span(times[first + 1], times[last + 1])
    return spanned(SMEARED_PART, value, len(texture), span)


def bars_step(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest change of black bars; see `BARS_STEP`."""
    if len(grid) < 6:
        return Measurement.missing(BARS_STEP, "needs at least six frames")
    value, span = 0.0, None
    dark = fading(grid)
    for luma in (grid.luma, grid.luma.transpose(0, 2, 1)):
        bars = _bars(luma)
        for frame in np.flatnonzero(np.diff(bars)).tolist():
            before, after = bars[max(0, frame + 1 - BAR_FRAMES) : frame + 1], bars[frame + 1 : frame + 1 + BAR_FRAMES]
            steady = min(len(before), len(after)) >= 3 and not (np.ptp(before) or np.ptp(after))
            if not steady or dark[frame : frame + 2].any():
                continue
            edge = int(max(bars[frame], bars[frame + 1]))
            inside = luma[frame : frame + 2, edge + 1 : luma.shape[1] - edge - 1]  # a bar may end within a block
            lit = frame if bars[frame] < bars[frame + 1] else frame + 1
            lines = [*range(int(min(bars[frame], bars[frame + 1])), edge), *range(-edge, 0)]
            if luma[lit, lines].mean() < LIT:
                continue
            change = 2 * abs(int(bars[frame + 1]) - int(bars[frame])) / luma.shape[1]
            if change > value and correlation(inside[0], inside[1]) >= SAME:
                value, span = change, Span(times_ms[frame + 1], times_ms[frame + 1])
    return spanned(BARS_STEP, value, len(grid), span)


def _bars(luma: Any) -> Any:
    """Lines of blocks that are black at both edges of each frame; 0 where nothing else is there."""
    if luma.min() >= BLACK:
        return np.zeros(len(luma), np.int64)
    black = luma.max(axis=2) < BLACK
    bars = np.minimum(np.cumprod(black, axis=1).sum(axis=1), np.cumprod(black[:, ::-1], axis=1).sum(axis=1))
    return np.where(2 * bars >= luma.shape[1] - 2, 0, bars)


def _usual_ms(times_ms: Any) -> float:
    steps = np.diff(np.asarray(times_ms, dtype=np.float64))
    return max(1.0, median(steps)) if len(steps) else 1.0


FROZEN_PART_METRIC = of_grid(FROZEN_PART, frozen_part, too_high="part of the picture frozen")
POPPING_PART_METRIC = of_grid(POPPING_PART, popping_part, too_high="something pops in and out")
SMEARED_PART_METRIC = of_grid(SMEARED_PART, smeared_part, too_high="part of the picture smeared")
BARS_STEP_METRIC = of_grid(BARS_STEP, bars_step, too_high="black bars change at")
