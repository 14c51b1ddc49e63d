"""Time that is missing: jump_ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.spans import Span
from rushes.instruments.clip.metrics.making import from_zero
from rushes.instruments.clip.metrics.stillness import of_shown
from rushes.instruments.clip.pictures.order import beside, largest_of, middle_of
from rushes.instruments.clip.pictures.shown import Shown

SIDE = 4
"""Steps to either side that a jump is compared with."""
FLOOR = 0.3
"""Levels that the steps around have at least, so that a still scene makes no jump of a small change."""
QUIET = 0.2
"""Levels that the steps around have in the median at least: between pictures that stand still, everything is a jump."""
UNEVEN = 12.0
"""Steps around that differ by this factor and more are fits and starts, in which nothing stands out."""
LASTING = 0.7
ALIKE = 0.7
"""Correlation of the blocks before and after, from which on both are the same shot."""

JUMP_RATIO = from_zero(
    name="jump_ratio",
    unit="1",
    better="lower",
    summary="How many times larger than every step around it one step is, within one shot: frames are missing there, "
    "or "
    "the clip was cut and joined.",
    formula="largest D(t, t + 1) / max(floor, the four steps before, the four after) / max(1, L)² over steps that last "
    f"(L ≥ {LASTING}; L = D(t − 1, t + 2) / D(t, t + 1), which is 1 across a gap and up to 3 in motion that goes on) "
    f"within a shot (the blocks of both frames correlate by {ALIKE} or more) and between motion (the eight steps "
    f"around have a median of {QUIET:g} levels or more and differ by less than a factor of {UNEVEN:g}); D as in "
    "longest_freeze_ms, different pictures alone",
    edge_cases="Fewer than two frames: no value. Fewer than six different pictures: 0. A cut to another shot, a flash "
    "and a picture that hardly "
    "moves make no jump. In fast motion a gap of a few frames is no larger than the steps around it.",
    reference="beside MetricBundleV1",
    params=signature_params(
        alike=ALIKE, blocks=16, floor=FLOOR, lasting=LASTING, quiet=QUIET, side=SIDE, uneven=UNEVEN
    ),
    history=("first release", "a step that motion goes on from counts less; steps around may be fainter and less even"),
    depends_on=("frame_size", "fps", "duration", "transfer", "luma"),
    raised_by=("a sudden start", "screens and drawings, which change at once"),
    lowered_by=("fast motion", "noise and grain"),
)


def jumps(shown: Shown) -> NDArray[np.float64]:
    """The ratio of every step, 0 without motion beside it, as far as the largest asks for it.

    Those that do not last within their shot have 0 too; ones that cannot be the largest are not looked at.
    """
    steps, count = shown.steps, len(shown.steps)
    around = beside(steps, SIDE)
    largest = largest_of(around)
    ratios: NDArray[np.float64] = steps / np.maximum(largest, FLOOR)
    uneven = largest > UNEVEN * around[:, 0]
    ratios[uneven | (middle_of(around) < QUIET)] = 0.0
    ratios[[0, -1]] = 0.0
    best = 1.0
    for step in np.argsort(-ratios, kind="stable").tolist():
        if ratios[step] <= best:
            break
        lasting = shown.away(step - 1, slice(step + 2, step + 3))[0] / steps[step]
        kept = 0 < step < count - 1 and lasting >= LASTING and _alike(*shown.values[step : step + 2]) >= ALIKE
        ratios[step] = ratios[step] / max(1.0, float(lasting)) ** 2 if kept else 0.0
        best = max(best, float(ratios[step]))
    return ratios


def _alike(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Correlation of two pictures' blocks; 0 where one is flat."""
    a, b = one - one.mean(), other - other.mean()
    scale = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / scale if scale else 0.0


def jump_ratio(shown: Shown) -> Measurement:
    """The largest step within a shot beside those around it; see `JUMP_RATIO`."""
    if len(shown) < 2:
        return Measurement.missing(JUMP_RATIO, "needs at least two frames", count=len(shown))
    pictures = shown.distinct
    if len(pictures) < 6:
        return Measurement(definition=JUMP_RATIO, value=0.0, count=len(pictures))
    ratios = jumps(pictures)
    place = int(np.argmax(ratios))
    time = float(pictures.times_ms[place + 1])
    span = Span(time, time) if ratios[place] else None
    value = round(float(ratios[place]), 8)
    return Measurement(definition=JUMP_RATIO, value=value, count=len(ratios), span=span)


JUMP_RATIO_METRIC = of_shown(JUMP_RATIO, jump_ratio, too_high="jumps at")
