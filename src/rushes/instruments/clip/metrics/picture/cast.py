"""A cast that comes at some moment and stays: cast_step.

What moves changes the colour of some blocks, a cast that of all of them alike. So the colour of the whole picture is
followed as the median of the changes of its blocks (`common_path`), and what is judged is a rise of that path, at once
or within a second, between two stretches in which it stands still.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.picture_grid import PictureGrid
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.frames.spans import Span, spanned
from rushes.instruments.clip.metrics.making import from_zero, of_grid
from rushes.instruments.clip.metrics.picture.changes import (
    CUT,
    PATH_MS,
    CommonPath,
    Flags,
    common_path,
    correlations,
    fading,
)

SIDE = 5
"""Frames of the path on either side in which it stands still: some 400 ms."""
RISES = (1, 2, 5, 12)
"""Steps of the path within which a cast comes: up to a second."""
STILL, ALIKE = 0.2, 0.5
"""How far the path may wander beside it, and how far the blocks may differ in it (median), as parts of the rise."""
_CANDIDATES = 3

CAST_STEP = from_zero(
    name="cast_step",
    unit="chroma levels",
    better="lower",
    summary="How far the colour of the whole picture shifts alike, at once or within a second, and then stays: a cast "
    "from some moment on.",
    formula=f"largest J − 2W over pairs of {SIDE} frames each, {', '.join(map(str, RISES))} steps apart; J the "
    "distance of the means of the colour path (Cb, Cr) in both, W the larger range of either coordinate within one of "
    f"them, where W ≤ {STILL:g} J and the median over blocks of |Δ(Cb, Cr) − the shift| is at most {ALIKE:g} J; the "
    f"path sums up, step by step ({PATH_MS:g} ms or more), the medians over blocks (16 along the shorter side, taken "
    f"two by two) of ΔCb and ΔCr, full range; no step between the two has r < {CUT:g} or is part of a fade",
    edge_cases="A clip of less than a second: no value. A grey clip that becomes coloured by a cast has one. A flash "
    "comes back and does not count; what takes longer than a second is colour_drift's.",
    reference="beside MetricBundleV1",
    params=signature_params(
        alike=ALIKE, path_ms=PATH_MS, plane="chroma", rises="-".join(map(str, RISES)), side=SIDE, still=STILL
    ),
    depends_on=("fps", "duration", "transfer", "luma"),
    raised_by=("coloured light switched on or off", "white balance that jumps"),
    lowered_by=("colour that changes all the time", "cuts and fast motion beside it"),
)


def cast_step(grid: PictureGrid, times_ms: Any) -> Measurement:
    """The largest shift of colour that all blocks share; see `CAST_STEP`."""
    path = common_path(grid, tuple(times_ms)) if len(grid) > 2 * SIDE else None
    if path is None or len(path.frames) <= 2 * SIDE:
        return Measurement.missing(CAST_STEP, "the clip is too short")
    found = sorted(_rises(path, _broken(grid, path)), key=lambda rise: -rise[0])
    for score, first, last, shift in found:
        before, after = (int(path.frames[place]) for place in (first, last))
        if _apart(grid, before, after, shift) <= ALIKE * float(np.hypot(*shift)):
            return spanned(CAST_STEP, score, len(path.frames), Span(times_ms[before], times_ms[after]))
    return spanned(CAST_STEP, 0.0, len(path.frames), None)


def _broken(grid: PictureGrid, path: CommonPath) -> Flags:
    """Steps of the path over a cut or in a fade."""
    dark = fading(grid)[path.frames]
    alike = correlations(path.luma[:-1], path.luma[1:]) >= CUT
    return np.asarray(~alike | dark[1:] | dark[:-1])


def _rises(path: CommonPath, broken: Flags) -> Iterator[tuple[float, int, int, Any]]:
    """For each length the largest scores: the score, the places between which the rise lies, and the shift."""
    windows = sliding_window_view(np.stack([path.blue, path.red], axis=1), SIDE, axis=0)
    means, ranges = windows.mean(axis=-1), np.ptp(windows, axis=-1).max(axis=-1)
    breaks = np.r_[0, np.cumsum(broken)]
    for length in RISES:
        before = np.arange(len(means) - SIDE + 1 - length)
        after = before + SIDE - 1 + length
        shift = means[after] - means[before]
        size, wander = np.hypot(shift[:, 0], shift[:, 1]), np.maximum(ranges[before], ranges[after])
        whole = breaks[after + SIDE - 1] == breaks[before]
        scores = np.where(whole & (wander <= STILL * size), size - 2 * wander, 0.0)
        for place in np.argsort(-scores, kind="stable")[:_CANDIDATES].tolist():
            if scores[place] > 0:
                yield float(scores[place]), place + SIDE - 1, place + SIDE - 1 + length, shift[place]


def _apart(grid: PictureGrid, before: int, after: int, shift: Any) -> float:
    """Median distance of what blocks change by from the common shift."""
    blue, red = (plane[after].astype(np.float64) - plane[before] for plane in (grid.blue, grid.red))
    return median(np.hypot(blue - shift[0], red - shift[1]).ravel())


CAST_STEP_METRIC = of_grid(CAST_STEP, cast_step, on_request=True, too_high="a colour cast from some moment on")
