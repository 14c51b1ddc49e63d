"""Where a clip stands still: longest_freeze_ms, longest_still_ms, repeated_frame_ratio.

A static camera on a quiet speaker moves little; a frozen picture does not move at all. The two are told apart by how
small a step is and for how long, never by the share of small steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.clip.frames.spans import longest_of, still_spans
from rushes.instruments.clip.metrics.making import from_zero, of_luma, share

FROZEN_EPSILON = 0.04
FROZEN_SHARE = 0.02
WINDOW = 7
"""Steps whose median decides: an encoder refines a frozen picture in single steps, every few frames."""
STILL_SHARE = 0.1
REPEAT_SHARE = 0.3
REPEAT_CAP = 0.5

_stretch = partial(from_zero, unit="ms", depends_on=("frame_size", "fps", "duration", "transfer", "luma"))

LONGEST_FREEZE_MS = _stretch(
    name="longest_freeze_ms",
    better="lower",
    summary="Longest stretch in which nothing changes at all. Slides and title cards are legitimately long.",
    formula="longest run of steps with median(d over the `window` steps around) < max(eps, share · median(d over steps "
    "with d ≥ eps)), from its first frame's time to its last's; d_t = mean|Y_t − Y_{t−1}| on 0–255; windows are cut at "
    "the ends",
    edge_cases="Fewer than two frames: no value. No such step: 0. A picture that is held and encoded again changes by "
    "0.00 to 0.02, with a larger step every few frames; by more where the film moves strongly and is coded coarsely. A "
    "static camera on a quiet speaker changes by 0.2 and more.",
    reference="beside MetricBundleV1: freeze_frame_ratio counts every quiet step, this one a standstill",
    params=signature_params(eps=FROZEN_EPSILON, plane="luma", range="full", share=FROZEN_SHARE, window=WINDOW),
    raised_by=("slides, titles and other stills", "strong compression of a quiet scene"),
    lowered_by=("noise and grain", "a shorter clip"),
)
LONGEST_STILL_MS = _stretch(
    name="longest_still_ms",
    better="neither",
    summary="Longest stretch that is far quieter than the clip's own steps.",
    formula="longest run of steps with d_t < share · median(d over steps with d ≥ 0.04), from its first frame's time "
    "to its last's",
    edge_cases="Fewer than two frames: no value. Every step frozen: the whole clip. A clip that is steadily quiet has "
    "none: quiet is measured against itself.",
    reference="beside MetricBundleV1",
    params=signature_params(plane="luma", range="full", share=STILL_SHARE),
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


def longest_freeze_ms(
    diffs: Sequence[float], times_ms: Sequence[float], *, epsilon: float = FROZEN_EPSILON
) -> Measurement:
    """The longest standstill; the note says where. See `LONGEST_FREEZE_MS`.

    >>> frozen = longest_freeze_ms([3.0] * 9 + [0.0] * 10 + [3.0] * 9, [100.0 * t for t in range(29)])
    >>> frozen.value, frozen.note
    (1000.0, '0.9–1.9 s')
    """
    definition = LONGEST_FREEZE_MS.with_params(eps=epsilon)
    limit = max(epsilon, FROZEN_SHARE * own_motion(diffs, epsilon))
    return _longest(definition, (rolling_median(diffs) < limit).tolist(), times_ms)


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


def longest_still_ms(diffs: Sequence[float], times_ms: Sequence[float]) -> Measurement:
    """The longest stretch far quieter than the clip's own steps; the note says where. See `LONGEST_STILL_MS`."""
    limit = STILL_SHARE * own_motion(diffs) or FROZEN_EPSILON
    return _longest(LONGEST_STILL_MS, [diff < limit for diff in diffs], times_ms)


def _longest(definition: Definition, holds: Sequence[bool], times_ms: Sequence[float]) -> Measurement:
    if not holds:
        return Measurement.missing(definition, _TOO_SHORT)
    return longest_of(definition, still_spans(holds, times_ms), len(holds))


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


LONGEST_FREEZE_MS_METRIC = of_luma(
    LONGEST_FREEZE_MS, longest_freeze_ms, "luma_diff", "time_ms", label="frozen ms", room="any", too_high="frozen"
)
LONGEST_STILL_MS_METRIC = of_luma(
    LONGEST_STILL_MS, longest_still_ms, "luma_diff", "time_ms", too_high="stands still against its own motion"
)
REPEATED_FRAME_RATIO_METRIC = of_luma(
    REPEATED_FRAME_RATIO, repeated_frame_ratio, "luma_diff", too_high="repeats frames"
)
