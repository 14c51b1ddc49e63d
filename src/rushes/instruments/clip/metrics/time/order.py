"""Pictures in the wrong order: replayed_ms, reversed_ms, frame_disorder.

Every frame is compared with every other, of the first 1500 different pictures. What nothing here can see: a whole clip
that runs backwards, and motion that looks the same both ways.
"""

from __future__ import annotations

from functools import partial

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.frames.spans import Span
from rushes.instruments.clip.metrics.making import from_zero, share
from rushes.instruments.clip.metrics.stillness import of_shown
from rushes.instruments.clip.pictures.order import (
    COPY,
    END_FIT,
    END_LEAP,
    END_STEP,
    FIT,
    LEAP,
    MOVING,
    QUIETER,
    Stretch,
    again,
    disorder,
    mirrored,
    turned,
)
from rushes.instruments.clip.pictures.shown import MOST, Shown

LEAST_MS, LAG_MS = 400.0, 400.0
_LEAST, _SHORTEST, _FEWEST = 4, 3, 6

_PARAMS = signature_params(blocks=16, light="even", copy=COPY, least_ms=LEAST_MS, most=MOST, moving=MOVING)
_FEWER = (
    f"Fewer than two frames: no value. Fewer than six different pictures: 0. Repeats of a frame are left out first, "
    f"and every picture is "
    f"brought to one mean and contrast, so that a fade is no order. Of a longer clip the first "
    f"{MOST} pictures are compared. Where steps are under {MOVING} levels: 0."
)
_order = partial(
    from_zero,
    unit="ms",
    better="lower",
    reference="beside MetricBundleV1",
    params=_PARAMS,
    depends_on=("frame_size", "fps", "duration"),
    lowered_by=("a quiet scene", "noise and grain", "a shorter clip"),
)

REPLAYED_MS = _order(
    name="replayed_ms",
    summary="Longest stretch that shows again, picture by picture, what the clip has shown before: a loop.",
    formula="longest run of frames t in which every stretch of 400 ms has Σ D(t, t − L) ≤ copy · Σ min(D of the steps "
    "after t and after t − L), for one lag L ≥ 400 ms; D as in longest_freeze_ms",
    edge_cases=f"{_FEWER} Waves, steps and other natural repetition come back to about the same picture, further than "
    "half a step away, and do not count. A loop with less than 400 ms of it shown twice is not found.",
    raised_by=("a loop that belongs there", "exact mechanical or drawn repetition"),
)
REVERSED_MS = _order(
    name="reversed_ms",
    summary="Longest stretch that runs backwards: the mirror of what came just before it, or a part that fits what is "
    "around it only the other way round.",
    formula="mirror: frames c + k for k = 1 … n with Σ D(c − k, c + k) ≤ copy · Σ min(D of the steps next to both), n "
    "at "
    "least 400 ms, c a frame or between two, with half the usual contrast or more; or frames p + 1 … q, at least 200 "
    f"ms, between two steps above {LEAP:g} times the median of the eight around (at least 0.3), with D(p, q) + "
    f"D(p + 1, q + 1) ≤ {FIT:g} (D(p, p + 1) + D(q, q + 1)); or, where there are none, frames p + 1 to the last one n, "
    f"at least 400 ms as those before, after a step above {END_LEAP:g} times that median with D(p, n) ≤ {END_FIT:g} "
    f"D(p, p + 1) and ≤ {END_STEP:g} times the median, none of whose other steps is above {QUIETER:g} D(p, p + 1), and "
    "the same in reverse; the longer of both",
    edge_cases=f"{_FEWER} A clip that runs backwards from beginning to end, and motion that looks the same both ways, "
    "cannot be told. A swing that turns round comes back near the same pictures, not to them.",
    params=signature_params(
        blocks=16,
        fit=FIT,
        fit_end=END_FIT,
        leap=LEAP,
        leap_end=END_LEAP,
        light="even",
        copy=COPY,
        least_ms=LEAST_MS,
        most=MOST,
        moving=MOVING,
        quieter=QUIETER,
        step_end=END_STEP,
    ),
    history=("first release", "smaller leaps; a part that reaches to an end of the clip"),
    raised_by=("a boomerang that belongs there",),
)
FRAME_DISORDER = share(
    name="frame_disorder",
    better="lower",
    summary="How much shorter the way through the pictures is in another order: near 0 for frames in order, 0.1 and "
    "more "
    "for frames shuffled in twos or threes.",
    formula="1 − Σ shortest / Σ as shown, over every six different pictures in a row: the way is Σ D from each to the "
    "next, shortest over the 24 orders of the inner four",
    edge_cases=_FEWER,
    reference="beside MetricBundleV1; the shortest way through pictures is the seriation of Robinson 1951",
    params=signature_params(blocks=16, light="even", most=MOST, moving=MOVING, window=6),
    depends_on=("frame_size", "fps"),
    raised_by=("shaking", "light that flickers", "fast motion at a low rate, whose frames have little in common"),
    lowered_by=("a quiet scene",),
)


def _too_few(definition: Definition, shown: Shown) -> Measurement | None:
    """The value of a clip with too few pictures for any order but one; None for the others."""
    if len(shown) < 2:
        return Measurement.missing(definition, "needs at least two frames", count=len(shown))
    return Measurement(definition=definition, value=0.0, count=len(shown)) if len(shown.distinct) < _FEWEST else None


def _frames(shown: Shown, ms: float, least: int) -> int:
    return max(least, round(ms / shown.step_ms)) if shown.step_ms else least


def _of(definition: Definition, shown: Shown, found: Stretch | None, words: str) -> Measurement:
    count = min(len(shown), MOST)
    if found is None:
        return Measurement(definition=definition, value=0.0, count=count)
    times = shown.times_ms
    span = Span(float(times[found.first]), float(times[found.last]) + shown.step_ms)
    note = f"{span.text()}, {words} {times[found.source] / 1000:.1f} s" if words else ""
    return Measurement(definition=definition, value=span.length_ms, count=count, note=note, span=span)


def replayed_ms(shown: Shown) -> Measurement:
    """Longest stretch shown a second time; see `REPLAYED_MS`."""
    if few := _too_few(REPLAYED_MS, shown):
        return few
    pictures = shown.distinct
    least, lag = (_frames(pictures, ms, _LEAST) for ms in (LEAST_MS, LAG_MS))
    found = again(pictures.in_even_light.matrix, least=least, lag=lag)
    return _of(REPLAYED_MS, pictures, found, "first shown at")


def reversed_ms(shown: Shown) -> Measurement:
    """Longest stretch that runs backwards; see `REVERSED_MS`."""
    if few := _too_few(REVERSED_MS, shown):
        return few
    pictures = shown.distinct
    apart = pictures.in_even_light.matrix
    mirror = mirrored(apart, least=_frames(pictures, LEAST_MS, _LEAST))
    if mirror is not None and pictures.contrast[mirror.source] < 0.5 * median(pictures.contrast):
        mirror = None  # it turns round in the dark: a dip to black and back
    turn = turned(apart, least=_frames(pictures, LEAST_MS / 2, _SHORTEST))
    both = [stretch for stretch in (mirror, turn) if stretch is not None]
    return _of(REVERSED_MS, pictures, max(both, key=lambda one: one.last - one.first, default=None), "")


def frame_disorder(shown: Shown) -> Measurement:
    """How far the frames are from being in order; see `FRAME_DISORDER`."""
    if few := _too_few(FRAME_DISORDER, shown):
        return few
    pictures = shown.distinct
    value, count = disorder(pictures.in_even_light.matrix), min(len(pictures), MOST)
    return Measurement(definition=FRAME_DISORDER, value=value or 0.0, count=count)


REPLAYED_MS_METRIC = of_shown(REPLAYED_MS, replayed_ms, too_high="shows again what came before")
REVERSED_MS_METRIC = of_shown(REVERSED_MS, reversed_ms, too_high="runs backwards")
FRAME_DISORDER_METRIC = of_shown(FRAME_DISORDER, frame_disorder, too_high="frames out of order")
