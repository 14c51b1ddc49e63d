"""Where a clip stands still: longest_freeze_ms, longest_still_ms, repeated_frame_ratio.

A static camera on a quiet speaker moves little; a frozen picture does not move at all. The two are told apart by how
small a step is and for how long, never by the share of small steps.

How long is counted on the screen: a frame is shown until the next one's time. At a variable rate one frame may be held
for as long as seventy-five repeats of it last at a constant rate, and both are the same standstill; see `on_screen`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.spans import longest_of, still_spans
from rushes.instruments.clip.metrics.making import from_zero, metric, of_luma, share

FROZEN_EPSILON = 0.04
FROZEN_SHARE = 0.02
WINDOW = 7
"""Steps whose median decides: an encoder refines a frozen picture in single steps, every few frames."""
STILL_SHARE = 0.1
REPEAT_SHARE = 0.3
REPEAT_CAP = 0.5

_SHOWN = (
    "frames count for as long as they are shown: one held at a variable rate is a standstill too, the last included"
)
_HELD = (
    "A frame that is shown for n usual steps (n = its time on the screen / the median step, rounded) counts as n − 1 "
    "steps with d = 0 before the step that ends it, the last frame until the end of the picture; so at a constant rate "
    "it is the same as without. All frames at one time: no value."
)

_stretch = partial(from_zero, unit="ms", depends_on=("frame_size", "fps", "duration", "transfer", "luma"))

LONGEST_FREEZE_MS = _stretch(
    name="longest_freeze_ms",
    better="lower",
    summary="Longest stretch in which nothing changes at all. Slides and title cards are legitimately long.",
    formula="longest run of steps with median(d over the `window` steps around) < max(eps, share · median(d over steps "
    "with d ≥ eps)), from its first frame's time to its last's; d_t = mean|Y_t − Y_{t−1}| on 0–255; windows are cut at "
    "the ends; held frames stand for steps with d = 0",
    edge_cases=f"Fewer than two frames: no value. No such step: 0. {_HELD} A picture that is held and encoded "
    "again changes by 0.00 to 0.02, with a larger step every few frames; by more where the film moves strongly and is "
    "coded coarsely. A static camera on a quiet speaker changes by 0.2 and more.",
    reference="beside MetricBundleV1: freeze_frame_ratio counts every quiet step, this one a standstill",
    params=signature_params(eps=FROZEN_EPSILON, plane="luma", range="full", share=FROZEN_SHARE, window=WINDOW),
    raised_by=("slides, titles and other stills", "strong compression of a quiet scene"),
    lowered_by=("noise and grain", "a shorter clip"),
    history=("first release", _SHOWN),
)
LONGEST_STILL_MS = _stretch(
    name="longest_still_ms",
    better="neither",
    summary="Longest stretch that is far quieter than the clip's own steps.",
    formula="longest run of steps with d_t < share · median(d over steps with d ≥ 0.04), from its first frame's time "
    "to its last's; held frames stand for steps with d = 0",
    edge_cases=f"Fewer than two frames: no value. Every step frozen: the whole clip. {_HELD} A clip that is steadily "
    "quiet has none: quiet is measured against itself.",
    reference="beside MetricBundleV1",
    params=signature_params(plane="luma", range="full", share=STILL_SHARE),
    history=("first release", _SHOWN),
)
REPEATED_FRAME_RATIO = share(
    name="repeated_frame_ratio",
    better="lower",
    summary="Share of steps that repeat the frame before while the steps around them move: too low a rate in effect.",
    formula="#(d_t < min(cap, share · max(d_{t−1}, d_{t+1}))) / steps, d_t as in freeze_frame_ratio",
    edge_cases="Fewer than four frames: no value. Every frame twice: 0.5. 24 frames a second shown as 30: 0.2. A clip "
    "that stands still repeats nothing by this count; longest_freeze_ms has it.",
    reference="beside MetricBundleV1",
    params=signature_params(cap=REPEAT_CAP, plane="luma", range="full", share=REPEAT_SHARE),
    depends_on=("frame_size", "fps"),
    raised_by=("animation drawn on twos", "a film shown at a higher rate"),
    lowered_by=("noise and grain, which tell a repeat from its frame", "dropped frames closed up"),
)

_TOO_SHORT = "needs at least two frames"
_ONE_TIME = "all frames have the same time, so nothing says how long any is shown"


def on_screen(
    diffs: Sequence[float], times_ms: Sequence[float], end_ms: float | None = None
) -> tuple[list[float], list[float]]:
    """The steps as at a constant rate: a frame that is held becomes steps of 0 before the step that ends it.

    A frame shown for n usual steps (rounded; the usual step is the median of those above 0) gives n − 1 of them. Of a
    long hold, as many as the window of `rolling_median` has stand for all: the middle one takes the rest of the time.
    `end_ms` is when the last frame goes; without it nothing is said of that one.

    >>> on_screen([5.0, 5.0, 5.0], [0.0, 40.0, 80.0, 200.0])
    ([5.0, 5.0, 0.0, 0.0, 5.0], [0.0, 40.0, 80.0, 120.0, 160.0, 200.0])
    """
    times = np.asarray(times_ms if end_ms is None else [*times_ms, end_ms], dtype=np.float64)
    lengths = np.diff(times)
    between = lengths[: len(diffs)]
    if not (between > 0).any():
        return list(diffs), list(times_ms)
    usual = float(np.median(between[between > 0]))
    held = np.rint(lengths / usual) - 1
    if not (held > 0).any():
        return list(diffs), list(times_ms)
    steps: list[float] = []
    edges: list[float] = [float(times[0])]
    for index, zeros in enumerate(held.tolist()):
        start, end = float(times[index]), float(times[index + 1])
        if zeros > 0:
            size, most = (end - start) / (zeros + 1), int(min(zeros, WINDOW))
            edges += [start + k * size if k <= WINDOW // 2 else end - (most + 1 - k) * size for k in range(1, most + 1)]
            steps += [0.0] * most
        if index < len(diffs):
            steps.append(diffs[index])
            edges.append(end)
    return steps, edges


def longest_freeze_ms(
    diffs: Sequence[float],
    times_ms: Sequence[float],
    *,
    end_ms: float | None = None,
    epsilon: float = FROZEN_EPSILON,
) -> Measurement:
    """The longest standstill; the note says where. See `LONGEST_FREEZE_MS`. `end_ms`: when the last frame goes.

    >>> frozen = longest_freeze_ms([3.0] * 9 + [0.0] * 10 + [3.0] * 9, [100.0 * t for t in range(29)])
    >>> frozen.value, frozen.note
    (1000.0, '0.9–1.9 s')
    """
    definition = LONGEST_FREEZE_MS.with_params(eps=epsilon)
    limit = max(epsilon, FROZEN_SHARE * own_motion(diffs, epsilon))
    steps, edges = on_screen(diffs, times_ms, end_ms)
    return _longest(definition, (rolling_median(steps) < limit).tolist(), edges, len(diffs))


def own_motion(diffs: Sequence[float], epsilon: float = FROZEN_EPSILON) -> float:
    """Median of the steps that are not frozen by the fixed limit; 0 where all are.

    >>> own_motion([0.0, 0.01, 3.0, 5.0, 9.0])
    5.0
    """
    moving = [diff for diff in diffs if diff >= epsilon]
    return float(np.median(moving)) if moving else 0.0


def rolling_median(values: Sequence[float], *, window: int = WINDOW) -> NDArray[np.float64]:
    """Median of the `window` values around each, of fewer at the ends.

    >>> rolling_median([1.0, 9.0, 2.0, 3.0], window=3).tolist()
    [5.0, 2.0, 3.0, 2.5]
    """
    half = window // 2
    padded = np.pad(np.asarray(values, dtype=np.float64), half, constant_values=np.nan)
    return np.zeros(0) if not len(values) else np.nanmedian(sliding_window_view(padded, window), axis=1)


def longest_still_ms(diffs: Sequence[float], times_ms: Sequence[float], *, end_ms: float | None = None) -> Measurement:
    """The longest stretch far quieter than the clip's own steps; the note says where. See `LONGEST_STILL_MS`."""
    limit = STILL_SHARE * own_motion(diffs) or FROZEN_EPSILON
    steps, edges = on_screen(diffs, times_ms, end_ms)
    return _longest(LONGEST_STILL_MS, [step < limit for step in steps], edges, len(diffs))


def _longest(definition: Definition, holds: Sequence[bool], times_ms: Sequence[float], count: int) -> Measurement:
    if not count:
        return Measurement.missing(definition, _TOO_SHORT)
    if min(times_ms) == max(times_ms):
        return Measurement.missing(definition, _ONE_TIME)
    return longest_of(definition, still_spans(holds, times_ms), count)


def repeated_frame_ratio(diffs: Sequence[float]) -> Measurement:
    """Share of steps that repeat the frame before; see `REPEATED_FRAME_RATIO`.

    >>> repeated_frame_ratio([0.0, 4.0, 0.1, 4.0, 0.0, 4.0]).value
    0.5
    """
    steps = np.asarray(diffs, dtype=np.float64)
    if len(steps) < 3:
        return Measurement.missing(REPEATED_FRAME_RATIO, "needs at least four frames")
    around = np.maximum(np.r_[0.0, steps[:-1]], np.r_[steps[1:], 0.0])
    repeated = int(np.count_nonzero(steps < np.minimum(REPEAT_CAP, REPEAT_SHARE * around)))
    return Measurement(definition=REPEATED_FRAME_RATIO, value=repeated / len(steps), count=len(steps))


def _of_the_screen(function: Callable[..., Measurement]) -> Callable[[Any], Measurement]:
    """The function of what the pass saw; where it was broken off, nothing says when the last frame goes."""

    def measure(seen: Any) -> Measurement:
        length = seen.measured_duration_ms
        end_ms = None if length is None or not seen.frames else float(seen.time_ms[0]) + length
        return function(seen.luma_diff.tolist(), seen.time_ms.tolist(), end_ms=end_ms)

    return measure


LONGEST_FREEZE_MS_METRIC = metric(
    LONGEST_FREEZE_MS, _of_the_screen(longest_freeze_ms), "luma", label="frozen ms", room="any", too_high="frozen"
)
LONGEST_STILL_MS_METRIC = metric(
    LONGEST_STILL_MS, _of_the_screen(longest_still_ms), "luma", too_high="stands still against its own motion"
)
REPEATED_FRAME_RATIO_METRIC = of_luma(
    REPEATED_FRAME_RATIO, repeated_frame_ratio, "luma_diff", too_high="repeats frames"
)
