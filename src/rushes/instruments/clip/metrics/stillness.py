"""Where a clip stands still: longest_freeze_ms, longest_still_ms, repeated_frame_ratio.

A static camera on a quiet speaker moves little; a frozen picture does not move at all. A standstill is found by the
picture itself: every frame of it is the one it began with, while the motion on either side goes on.

How long is counted on the screen: a frame is shown until the next one's time. At a variable rate one frame may be held
for as long as seventy-five repeats of it last at a constant rate, and both are the same standstill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.quantiles import median
from rushes.instruments.clip.frames.spans import Span, longest_of, stretches
from rushes.instruments.clip.metrics.making import from_zero, metric, share
from rushes.instruments.clip.pictures.cadence import REPEAT_SHARE
from rushes.instruments.clip.pictures.shown import Shown
from rushes.instruments.clip.pictures.stills import (
    BESIDE,
    EPSILON,
    HARDLY,
    SHARE,
    WHOLE,
    WINDOW_MS,
    Still,
    interrupts,
    is_flat,
    own_change,
    still_limit,
    stills,
    stops_and_goes,
)

STILL_FLOOR = 0.04
STILL_SHARE = 0.1

_SHOWN = (
    "frames count for as long as they are shown: one held at a variable rate is a standstill too, the last included"
)
_BY_PICTURE = "change accumulated since the stretch began, beside the clip's own, in place of a median of seven steps"
_ON_SCREEN = (
    "A stretch lasts from the time of its first frame until the next picture, less one usual step (the median step), "
    "so "
    "that n repeats last n steps; the last frame is shown until the end of the picture. All frames at one time: no "
    "value."
)

_stretch = partial(from_zero, unit="ms", depends_on=("frame_size", "fps", "duration", "transfer", "luma"))

LONGEST_FREEZE_MS = _stretch(
    name="longest_freeze_ms",
    better="lower",
    summary="Longest stretch in which one picture stands still while the clip around it moves; the whole length of a "
    "clip that is one picture.",
    formula="longest stretch of frames a … b with D(a, t) ≤ max(eps, share · C) for every t in it; D = √(mean over "
    "blocks of (B_a − B_t)²), B the mean luma on 0–255 of square blocks, 16 along the shorter side; C = upper quartile "
    "over frames of the largest D within 360 ms. It counts where it fills 60 % of a clip with C ≤ 0.3, or where on "
    "each side that "
    "has 360 ms the picture changes by at least 1 / `beside` of what it changes inside, in steps that differ by less "
    "than a factor of 6; the side after it is enough where the step that ends it is 3 times those that "
    "follow",
    edge_cases=f"Fewer than two frames: no value. No such stretch: 0. {_ON_SCREEN} Screen recordings, slides and "
    f"people "
    "who pause change by fits and starts and are not counted, nor a clip with two more standstills half as long, nor "
    "a black picture (longest_flat_ms); a clip that "
    "is one picture is. A freeze shorter than "
    "the time that pictures are held anyway does not show.",
    reference="beside MetricBundleV1: freeze_frame_ratio counts every quiet step, this one a standstill",
    params=signature_params(
        eps=EPSILON, share=SHARE, beside=BESIDE, blocks=16, window_ms=WINDOW_MS, plane="luma", range="full"
    ),
    raised_by=("a still picture that belongs there", "strong compression of a quiet scene"),
    lowered_by=("noise and grain", "a shorter clip"),
    history=("first release", _SHOWN, _BY_PICTURE),
)
LONGEST_STILL_MS = _stretch(
    name="longest_still_ms",
    better="neither",
    summary="Longest stretch that is far quieter than the clip's own steps.",
    formula="longest run of steps with d_t < share · median(d over steps with d ≥ 0.04), d_t = mean|Y_t − Y_{t−1}| on "
    "0–255; a frame that is held for longer than a usual step counts as steps with d = 0",
    edge_cases=f"Fewer than two frames: no value. Every step frozen: the whole clip. {_ON_SCREEN} A clip that is "
    "steadily quiet has none: quiet is measured against itself.",
    reference="beside MetricBundleV1",
    params=signature_params(plane="luma", range="full", share=STILL_SHARE),
    history=("first release", _SHOWN),
)
REPEATED_FRAME_RATIO = share(
    name="repeated_frame_ratio",
    better="neither",
    summary="Share of steps that repeat the frame before while the steps around them move; native_fps says what rate "
    "that leaves, stutter_ratio whether the motion stutters.",
    formula="#(step t repeats) / steps: D(t − 1, t) ≤ share · min(largest D of the 4 steps before, of the 4 after; of "
    "as "
    "many as there are in 125 ms if that is more), and the same of mean|Y_t − Y_{t−1}|; D as in longest_freeze_ms, of "
    "pictures brought to one mean and contrast; at "
    "the ends of the clip the one side there is",
    edge_cases="Fewer than four frames: no value. Fewer than eight different pictures: 0. Every frame twice: 0.5. 24 "
    "frames a second shown as 30: 0.2. A "
    "clip "
    "that stands still repeats nothing by this count; longest_freeze_ms has it.",
    reference="beside MetricBundleV1",
    params=signature_params(blocks=16, plane="luma", range="full", share=REPEAT_SHARE),
    depends_on=("frame_size", "fps"),
    history=(
        "first release",
        "by distance of pictures and by ratio alone, without a cap in levels that encoders exceed",
    ),
)

_TOO_SHORT = "needs at least two frames"
_ONE_TIME = "all frames have the same time, so nothing says how long any is shown"


def longest_freeze_ms(shown: Shown, *, end_ms: float | None = None) -> Measurement:
    """The longest standstill; the span says where. See `LONGEST_FREEZE_MS`. `end_ms`: when the last frame goes."""
    if why := _unmeasured(len(shown), shown.times_ms):
        return Measurement.missing(LONGEST_FREEZE_MS, why)
    own = own_change(shown)
    found = stills(shown, still_limit(own))
    times = shown.times_ms.tolist()
    spans = {still: _on_screen(times, still, shown.step_ms, end_ms) for still in (*found, *_held(shown, found, end_ms))}
    longest = max(spans, key=lambda still: spans[still].length_ms)
    # Only the longest is looked at closely: of a clip that stops and goes none interrupts anything.
    is_whole = own <= HARDLY * EPSILON and spans[longest].length_ms >= WHOLE * _length(shown, end_ms)
    counts = is_whole or not stops_and_goes(found, longest) and interrupts(shown, longest)
    counted = iter([spans[longest]] if counts and not is_flat(shown, longest.first) else [])
    return longest_of(LONGEST_FREEZE_MS, counted, len(shown) - 1)


def _length(shown: Shown, end_ms: float | None) -> float:
    last = float(shown.times_ms[-1]) if end_ms is None else end_ms - shown.step_ms
    return last - float(shown.times_ms[0])


def _on_screen(times: list[float], still: Still, step_ms: float, end_ms: float | None) -> Span:
    after = still.last + 1
    gone = times[after] if after < len(times) else end_ms
    end = times[still.last] if gone is None else max(gone - step_ms, times[still.last])
    return Span(times[still.first], end)


def _held(shown: Shown, found: Sequence[Still], end_ms: float | None) -> Iterator[Still]:
    """The frame between the stretches that is shown for longest: at a variable rate that may be long."""
    alone = np.ones(len(shown), np.bool_)
    for still in found:
        alone[still.first : still.last + 1] = False
    shown_until = np.append(shown.times_ms[1:], shown.times_ms[-1] if end_ms is None else end_ms) - shown.step_ms
    lengths = np.maximum(shown_until, shown.times_ms) - shown.times_ms
    if alone.any():
        frame = int(np.argmax(np.where(alone, lengths, -1.0)))
        yield Still(frame, frame)


def own_motion(diffs: Sequence[float], epsilon: float = STILL_FLOOR) -> float:
    """Median of the steps that are not frozen by the fixed limit; 0 where all are.

    >>> own_motion([0.0, 0.01, 3.0, 5.0, 9.0])
    5.0
    """
    moving = [diff for diff in diffs if diff >= epsilon]
    return median(moving) if moving else 0.0


def longest_still_ms(diffs: Sequence[float], times_ms: Sequence[float], *, end_ms: float | None = None) -> Measurement:
    """The longest stretch far quieter than the clip's own steps; the note says where. See `LONGEST_STILL_MS`."""
    times = np.asarray(times_ms, dtype=np.float64)
    if why := _unmeasured(len(diffs) + 1, times):
        return Measurement.missing(LONGEST_STILL_MS, why)
    limit = STILL_SHARE * own_motion(diffs) or STILL_FLOOR
    runs = {first: last + 1 for first, last in stretches([diff < limit for diff in diffs])}
    inside = {frame for first, last in runs.items() for frame in range(first, last + 1)}
    alone = {frame: frame for frame in range(len(times)) if frame not in inside}
    steps = np.diff(times)
    usual = median(steps[steps > 0])
    ends = [*times[1:].tolist(), times[-1] + usual if end_ms is None else end_ms]
    spans = (Span(float(times[a]), max(float(times[b]), ends[b] - usual)) for a, b in (runs | alone).items())
    return longest_of(LONGEST_STILL_MS, spans, len(diffs))


def _unmeasured(frames: int, times_ms: Any) -> str:
    if frames < 2:
        return _TOO_SHORT
    return _ONE_TIME if not (np.diff(times_ms) > 0).any() else ""


def repeated_frame_ratio(shown: Shown) -> Measurement:
    """Share of steps that repeat the frame before; see `REPEATED_FRAME_RATIO`."""
    if len(shown) < 4:
        return Measurement.missing(REPEATED_FRAME_RATIO, "needs at least four frames", count=len(shown))
    cadence = shown.cadence
    repeated = int(np.count_nonzero(cadence.repeats))
    steps = len(cadence.repeats)
    note = cadence.words(shown.fps)
    return Measurement(definition=REPEATED_FRAME_RATIO, value=repeated / steps, count=steps, note=note)


def _end_ms(seen: Any) -> float | None:
    """When the last frame goes; None where reading was broken off, for nothing says it then."""
    length = seen.measured_duration_ms
    return None if length is None or not seen.frames else float(seen.time_ms[0]) + length


def of_shown(definition: Definition, function: Callable[[Shown], Measurement], **shown: Any) -> Any:
    """A metric that is a function of the pictures shown (`Observation.shown`)."""

    def measure(seen: Any) -> Measurement:
        return Measurement.missing(definition, seen.error or _TOO_SHORT) if seen.shown is None else function(seen.shown)

    return metric(definition, measure, "luma", **shown)


def _freeze(seen: Any) -> Measurement:
    if seen.shown is None:
        return Measurement.missing(LONGEST_FREEZE_MS, seen.error or _TOO_SHORT)
    return longest_freeze_ms(seen.shown, end_ms=_end_ms(seen))


def _still(seen: Any) -> Measurement:
    return longest_still_ms(seen.luma_diff.tolist(), seen.time_ms.tolist(), end_ms=_end_ms(seen))


LONGEST_FREEZE_MS_METRIC = metric(LONGEST_FREEZE_MS, _freeze, "luma", label="frozen ms", room="any", too_high="frozen")
LONGEST_STILL_MS_METRIC = metric(LONGEST_STILL_MS, _still, "luma", too_high="stands still against its own motion")
REPEATED_FRAME_RATIO_METRIC = of_shown(REPEATED_FRAME_RATIO, repeated_frame_ratio, too_high="repeats frames")
