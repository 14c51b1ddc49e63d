"""Frames mixed with those before them: ghosting.

The mean of n frames in a row is a filter over time that lets nothing through at 1/n, 2/n … cycles a frame, whatever
moves. So the light of a block that moves is looked at as a sum of waves over time: what was mixed has narrow dips at
just these places, and motion itself has none. But for one: a view that slides at one speed is averaged by the block
in the same way. There each block shows what its neighbour showed some frames before, and that is told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import fft
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.grid_kernels import lagged_means
from rushes.instruments.clip.frames.quantiles import quantile
from rushes.instruments.clip.metrics.making import from_zero, metric
from rushes.instruments.clip.pictures.shown import MOST

Floats = NDArray[np.float64]

WINDOW, FEWEST = 48, 24
"""Steps that are looked at together, and the fewest in which a dip shows."""
LINES = 96
"""Frequencies, up to one cycle a frame; a multiple of most counts."""
MIXED = (3, 4, 5, 6)
"""Frames that may have been mixed. Two leave a dip only where little is to be seen anyway."""
BESIDE = 0.45
"""How far from a dip the frequencies lie that it is compared with, as a part of 1/n."""
LIVELIEST, MOVING = 0.25, 0.3
"""The part of the blocks that change most, and the levels by which they do at least, from frame to frame (rms)."""
SLIDING, LAGS = 0.55, range(2, 13)
"""Correlation with a neighbour so many frames before, above which the picture slides."""
FEWEST_PAIRS = 3

GHOSTING = from_zero(
    name="ghosting",
    unit="dB",
    better="lower",
    summary="How clearly frames are the mean of several in a row: things that move leave ghosts.",
    formula="largest over n = 3 … 6 of the mean over k = 1 … (k < n/2) of −10·log10(P(k/n) / √(P(k/n − 0.45/n) · "
    "P(k/n + 0.45/n))), at least 0; P(f) the mean power at f cycles a frame of the steps of block means (16 blocks "
    f"along the shorter side), windows of {WINDOW} steps (Hann, half overlapping, {LINES} lines), each block divided "
    f"by its own power; of each window the quarter of the blocks that change most, if by {MOVING:g} levels (rms) or "
    "more. 0 where the steps of these blocks correlate with those of their neighbours on one side "
    f"{LAGS[0]} to {LAGS[-1]} frames before by more than {SLIDING:g}",
    edge_cases=f"Fewer than {FEWEST + 1} different pictures: no value; repeats are left out first, and of a longer "
    f"clip the first {MOST} pictures are looked at. Nothing moves, or the picture slides: 0. Of 52 real clips 0 to 6; "
    "mixed with the two to five frames before, half of them have 10 and more. The mean of two frames does not show.",
    reference="zeros of the moving average; beside MetricBundleV1",
    params=signature_params(
        beside=BESIDE,
        blocks=16,
        lines=LINES,
        liveliest=LIVELIEST,
        mixed="3-6",
        moving=MOVING,
        sliding=SLIDING,
        sliding_frames=f"{LAGS[0]}-{LAGS[-1]}",
        window=WINDOW,
    ),
    depends_on=("fps", "duration", "transfer", "luma"),
    raised_by=("slow motion whose frames in between were mixed", "a rate that was converted by mixing"),
    lowered_by=("a quiet scene", "coding noise, which fills the dips", "a steady pan"),
)


def ghosting(luma: Any) -> Measurement:
    """The depth of the dips in different pictures, frames × rows × columns; see `GHOSTING`."""
    steps = np.diff(luma[:MOST].astype(np.float64), axis=0)
    if len(steps) < FEWEST:
        return Measurement.missing(GHOSTING, f"needs at least {FEWEST + 1} different pictures", count=len(luma))
    parts = list(_lively(steps))
    depth = 0.0
    if parts and not _slides(parts):
        power = np.mean([spectrum(part) for part in parts], axis=0)
        depth = max(dip(power, count) for count in MIXED)
    return Measurement(definition=GHOSTING, value=round(max(0.0, depth), 6), count=len(luma))


def _lively(steps: Floats) -> Iterator[Floats]:
    """The steps of each window over their own root mean square; 0 of blocks that are not looked at."""
    length = min(WINDOW, len(steps))
    for first in range(0, len(steps) - length + 1, length // 2):
        part = steps[first : first + length]
        change = np.sqrt(np.mean(part * part, axis=0))
        looked_at = (change >= quantile(change, 1 - LIVELIEST)) & (change >= MOVING)
        if looked_at.any():
            yield np.where(looked_at, part / np.maximum(change, MOVING), 0.0)


def spectrum(part: Floats) -> Floats:
    """Mean power at 0 to half a cycle a frame, of steps × rows × columns; each block has the same power altogether."""
    series = part.reshape(len(part), -1)
    series = series[:, series.any(axis=0)] * np.hanning(len(part) + 2)[1:-1, None]
    power = np.square(np.abs(fft.rfft(series, n=LINES, axis=0)))
    return np.asarray((power / power.sum(axis=0)).mean(axis=1))


def dip(power: Floats, count: int) -> float:
    """Mean depth of the dips that the mean of so many frames leaves, dB."""
    places = [round(LINES * k / count) for k in range(1, (count + 1) // 2)]
    aside = round(BESIDE * LINES / count)
    levels = 10 * np.log10(np.maximum(power, 1e-12))
    last = len(levels) - 1
    return float(np.mean([(levels[p - aside] + levels[min(p + aside, last)]) / 2 - levels[p] for p in places]))


def _slides(parts: list[Floats]) -> bool:
    """Whether blocks show what a neighbour showed some frames before."""
    sides = ((axis, ahead) for axis in (1, 2) for ahead in (True, False))
    moving = [np.asarray(part.any(axis=0, keepdims=True)) for part in parts]
    found = [np.mean([_handed_on(*one, *side) for one in zip(parts, moving, strict=True)], axis=0) for side in sides]
    return bool(np.max(found) > SLIDING)


def _handed_on(part: Floats, moving: NDArray[np.bool_], axis: int, ahead: bool) -> Floats:
    """Mean correlation of blocks with the next one along an axis, so many steps later; 0 without three such pairs."""
    here, there = _neighbours(part, axis, ahead)
    one, other = _neighbours(moving, axis, ahead)
    both = (one & other)[0]
    if np.count_nonzero(both) < FEWEST_PAIRS:
        return np.zeros(len(LAGS))
    return lagged_means(here[:, both], there[:, both], LAGS)


def _neighbours(part: NDArray[Any], axis: int, ahead: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    blocks = part.swapaxes(axis, 1)
    return (blocks[:, :-1], blocks[:, 1:]) if ahead else (blocks[:, 1:], blocks[:, :-1])


def shown_ghosting(seen: Any) -> Measurement:
    """`ghosting` of what the pass saw, without frames that repeat a picture."""
    if seen.grid is None or seen.shown is None:
        return Measurement.missing(GHOSTING, seen.error or "no frame could be decoded")
    return ghosting(seen.grid.luma[seen.shown.different])


GHOSTING_METRIC = metric(
    GHOSTING, shown_ghosting, "luma", on_request=True, too_high="things leave ghosts: frames are mixed"
)
