"""Frames mixed with those before them: ghosting.

The mean of n frames in a row is a filter over time that lets nothing through at 1/n, 2/n … cycles a frame, whatever
moves. So what points of the picture show over time is looked at as a sum of waves: what was mixed has narrow dips at
just these places, and motion itself has none. A shutter does the same with the time it is open, but that is one frame
at most, whose first dip is at one cycle a frame and does not show.

A film that was slowed down by mixing has a dip as well. There every second or third picture is one that was filmed, and
the ones between are not: they bend more and less by turns, and that is told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy import fft
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.grid_kernels import lagged_means
from rushes.instruments.clip.frames.quantiles import median, quantile
from rushes.instruments.clip.frames.small_pictures import EVERY, MOST, POINTS, SMALLEST, SPREAD
from rushes.instruments.clip.metrics.making import from_zero, metric

Floats = NDArray[np.float64]

WINDOW, FEWEST = 48, 24
"""Steps that are looked at together, and the fewest in which a dip shows."""
LINES = 96
"""Frequencies, up to one cycle a frame; a multiple of most counts."""
MIXED = (3, 4, 5, 6)
"""Frames that may have been mixed. Two leave a dip only where little is to be seen anyway."""
BESIDE = 0.45
"""How far from a dip the frequencies lie that it is compared with, as a part of 1/n."""
LIVELIEST, MOVING = 0.2, 2.0
"""The part of the points that change most, and the levels by which they do at least, from frame to frame (rms)."""
FEWEST_POINTS = 12
CLEAR, SLIDING, LAGS = 3.0, 0.8, range(1, 13)
"""Depth from which it is asked whether the picture slides: whether its points correlate so well with a neighbour so
many frames before. What was scaled up has dips in space, which such a view turns into dips in time."""
LARGEST = 2.0
"""Times the median step of a window (rms over its points) that each of its steps counts at most."""
TURNS, UNEVEN = (2, 3), 2.5
"""Pictures of a slow motion of which one was filmed, and how many times more that one bends than the others."""

GHOSTING = from_zero(
    name="ghosting",
    unit="dB",
    better="lower",
    summary="How clearly frames are the mean of several in a row: things that move leave ghosts.",
    formula="largest over n = 3 … 6 of the mean over k = 1 … (k < n/2) of −10·log10(P(k/n) / √(P(k/n − 0.45/n) · "
    "P(k/n + 0.45/n))), at least 0; P(f) the sum over points of p(f) / √Σp, p the power at f cycles a frame of the "
    f"steps of luma, windows of {WINDOW} steps (Hann, half overlapping, {LINES} lines). Points are means weighted with "
    f"a bell (σ {SPREAD:g} of their distance), {POINTS} along the shorter side, every second row of them; of each step "
    "the line in luma that fits it best over all points is taken off. Of each window the fifth of the points count "
    f"that change most, if by {MOVING:g} levels (rms) or more, and no step for more than {LARGEST:g} times the median "
    "one (rms over these points). 0 where by turns of two or three the second differences of these points have "
    f"medians that differ by a factor of {UNEVEN:g} or more, and for depths above {CLEAR:g} where steps correlate with "
    f"those of the neighbours on one side {LAGS[0]} to {LAGS[-1]} frames before by more than {SLIDING:g}",
    edge_cases=f"Fewer than {FEWEST + 1} different pictures, and frames of less than {SMALLEST} pixels: no value; "
    f"repeats are left out first, and the first {MOST} frames are looked at. Nothing moves: 0. The mean of two frames "
    "does not show, nor does a filter that forgets bit by bit (each picture mixed with the mixture before).",
    reference="zeros of the moving average; beside MetricBundleV1",
    params=signature_params(
        beside=BESIDE,
        clear=CLEAR,
        largest=LARGEST,
        lines=LINES,
        liveliest=LIVELIEST,
        mixed="3-6",
        moving=MOVING,
        points=f"{POINTS}/{EVERY}",
        sliding=SLIDING,
        spread=SPREAD,
        uneven=UNEVEN,
        window=WINDOW,
    ),
    history=("first release", "points instead of means of blocks"),
    depends_on=("frame_size", "fps", "duration", "transfer", "luma"),
    raised_by=("a rate that was converted by mixing",),
    lowered_by=("a quiet scene", "coding noise, which fills the dips", "a steady pan of everything"),
)


def ghosting(pictures: Any) -> Measurement:
    """The depth of the dips in different pictures, frames × rows × columns; see `GHOSTING`."""
    if len(pictures) <= FEWEST:
        return Measurement.missing(GHOSTING, f"needs at least {FEWEST + 1} different pictures", count=len(pictures))
    steps = in_one_light(pictures.reshape(len(pictures), -1))
    windows = list(_lively(steps))
    parts = [_bounded(steps[window][:, chosen].astype(np.float64)) for window, chosen in windows]
    depth = 0.0
    if parts and unevenness(parts) < UNEVEN:
        power = np.sum([spectrum(part) for part in parts], axis=0)
        depth = max(dip(power, count) for count in MIXED)
    if depth > CLEAR and _slides(steps, windows, pictures.shape[1:]):
        depth = 0.0
    return Measurement(definition=GHOSTING, value=round(max(0.0, depth), 3), count=len(pictures))


def in_one_light(points: Any) -> Any:
    """Steps of luma, frames × points, without what a change of light explains: of each what is left of a line in luma.

    Light that goes up and down smoothly is a filter over time as well, and a cut to black and back a comb.
    """
    # With c the points less their mean, before and after, the line through 0 that fits c' − c best over (c' + c) / 2.
    centred = points - points.mean(axis=1, keepdims=True)
    before, after = centred[:-1], centred[1:]
    squares, products = np.einsum("ij,ij->i", centred, centred), np.einsum("ij,ij->i", before, after)
    luma = squares[1:] + squares[:-1] + 2 * products
    half = ((squares[1:] - squares[:-1]) / np.maximum(luma, 1.0))[:, None]
    return after * (1 - half) - before * (1 + half)


def _lively(steps: Any) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Each window in which something moves, and its liveliest points."""
    length = min(WINDOW, len(steps))
    for first in range(0, len(steps) - length + 1, length // 2):
        part = steps[first : first + length]
        change = np.sqrt(np.mean(part * part, axis=0, dtype=np.float64))
        chosen = (change >= quantile(change, 1 - LIVELIEST)) & (change >= MOVING)
        if np.count_nonzero(chosen) >= FEWEST_POINTS:
            yield slice(first, first + length), chosen


def _bounded(part: Floats) -> Floats:
    """No step larger than twice the median one: a cut and the next, or a light that goes off and on, is a comb too."""
    sizes = np.sqrt(np.mean(part * part, axis=1))
    return np.asarray(part * np.minimum(1.0, LARGEST * median(sizes) / np.maximum(sizes, 1e-6))[:, None])


def spectrum(part: Floats) -> Floats:
    """Power at 0 to half a cycle a frame, summed over points, each of which counts with the root of its power."""
    waves = fft.rfft((part * np.hanning(len(part) + 2)[1:-1, None]).T, n=LINES, axis=1)
    power = np.square(waves.real) + np.square(waves.imag)
    return np.asarray((power / np.sqrt(np.maximum(power.sum(axis=1, keepdims=True), 1e-12))).sum(axis=0))


def dip(power: Floats, count: int) -> float:
    """Mean depth of the dips that the mean of so many frames leaves, dB."""
    places = [round(LINES * k / count) for k in range(1, (count + 1) // 2)]
    aside = round(BESIDE * LINES / count)
    levels = 10 * np.log10(np.maximum(power, 1e-12))
    last = len(levels) - 1
    return float(np.mean([(levels[p - aside] + levels[min(p + aside, last)]) / 2 - levels[p] for p in places]))


def unevenness(parts: list[Floats]) -> float:
    """How many times more the points bend at one picture of every two or three than at the others; 1 for a film."""
    most = 1.0
    for part in parts:
        bends = np.abs(np.diff(part, axis=0)).mean(axis=1)
        for turn in TURNS:
            usual = [median(bends[place::turn]) for place in range(turn)]
            most = max(most, max(usual) / max(min(usual), 1e-6))
    return most


def _slides(steps: Any, windows: Sequence[tuple[slice, NDArray[np.bool_]]], shape: tuple[int, ...]) -> bool:
    """Whether points show what a neighbour showed some frames before."""
    sides = ((axis, ahead) for axis in (1, 2) for ahead in (True, False))
    parts = [np.where(chosen, steps[window].astype(np.float64), 0.0).reshape(-1, *shape) for window, chosen in windows]
    return max(float(np.mean([_handed_on(part, *side) for part in parts], axis=0).max()) for side in sides) > SLIDING


def _handed_on(part: Floats, axis: int, ahead: bool) -> Floats:
    """Correlation of points with the next one along an axis, so many steps later, over all pairs that move."""
    points = part.swapaxes(axis, 1)
    here, there = (points[:, :-1], points[:, 1:]) if ahead else (points[:, 1:], points[:, :-1])
    both = here.any(axis=0) & there.any(axis=0)
    if np.count_nonzero(both) < FEWEST_POINTS:
        return np.zeros(len(LAGS))
    one, other = here[:, both], there[:, both]
    scale = float(np.sqrt(np.mean(one * one) * np.mean(other * other)))
    return lagged_means(one, other, LAGS) / max(scale, 1e-9)


def shown_ghosting(seen: Any) -> Measurement:
    """`ghosting` of what the pass saw, without frames that repeat a picture."""
    if isinstance(seen.small, str) or seen.shown is None:
        return Measurement.missing(GHOSTING, seen.small or seen.error or "no frame could be decoded")
    different = seen.shown.different
    return ghosting(seen.small[different[different < len(seen.small)]])


GHOSTING_METRIC = metric(
    GHOSTING, shown_ghosting, "luma", "small", on_request=True, too_high="things leave ghosts: frames are mixed"
)
