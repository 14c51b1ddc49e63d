"""What the light does: luma_alternation (a strobe, not a pan or a fade) and longest_flat_ms (black or empty)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.spans import Span, frame_spans, longest_of
from rushes.instruments.clip.metrics.making import from_zero, metric, of_luma

HALF_PERIOD_MS = 100.0
FLAT_SPREAD = 3.0
FLAT_POINTS = 48

LUMA_ALTERNATION = from_zero(
    name="luma_alternation",
    unit="luma levels",
    better="lower",
    summary="How far the overall brightness goes up and down again from frame to frame: what a strobe does, and a pan, "
    "a fade or a cut does not.",
    formula="max over k of median_t √max(0, −(m_t − m_{t−k})(m_{t+k} − m_t)), m_t = mean luma of picture t on 0–255, "
    "k = 1 … the pictures in 100 ms; frames that repeat a picture are left out (repeated_frame_ratio, from 6 % on)",
    edge_cases="Fewer than three frames: no value. k stops where the clip has fewer than 2k + 1 frames. Light that "
    "alternates in less than half of the clip, or slower than 5 Hz, does not show.",
    reference="beside MetricBundleV1; on the clips of the FETV study ρ = −.69 with people's temporal quality",
    params=signature_params(half_period_ms=HALF_PERIOD_MS, plane="luma", range="full", statistic="median"),
    depends_on=("fps", "transfer", "luma"),
    raised_by=("noise in small or short clips", "rhythmic motion of bright things", "more contrast"),
    lowered_by=("a dark or still scene", "compression"),
    history=("first release", "different pictures alone: repeated frames no longer hide what alternates"),
)
LONGEST_FLAT_MS = from_zero(
    name="longest_flat_ms",
    unit="ms",
    better="lower",
    summary="Longest gap of black or of one tone between two pictures.",
    formula="longest run of frames whose luma has a standard deviation below `spread` (0–255, on a grid of some "
    "48 × 48 pixels) and a mean squared Laplacian of at most 4, from its first frame's time to that of the "
    "picture after it",
    edge_cases="No frame: no value. A flat beginning or end (a fade from black) does not count, unless nothing else is "
    "there: a clip that is flat throughout has its whole length.",
    reference="beside MetricBundleV1",
    params=signature_params(plane="luma", range="full", spread=FLAT_SPREAD),
    depends_on=("fps", "duration", "range", "transfer", "luma"),
    raised_by=("fades and cuts through black", "strong blur"),
    lowered_by=("noise and grain", "a shorter clip"),
)


def luma_alternation(means: Sequence[float], *, fps: float | None) -> Measurement:
    """How far the brightness alternates; see `LUMA_ALTERNATION`.

    >>> luma_alternation([100.0, 107.0] * 5, fps=25.0).value, luma_alternation(range(9), fps=25.0).value
    (7.0, 0.0)
    """
    light = np.asarray(means, dtype=np.float64)
    if len(light) < 3:
        return Measurement.missing(LUMA_ALTERNATION, "needs at least three frames")
    furthest = max(1, int((fps or 0.0) * HALF_PERIOD_MS / 1000 + 1e-9))
    values = [alternation(light, k) for k in range(1, furthest + 1) if len(light) > 2 * k]
    return Measurement(definition=LUMA_ALTERNATION, value=max(values), count=len(light))


def alternation(light: np.ndarray, k: int) -> float:
    """Median over frames of the geometric mean of two opposed changes, k frames apart; 0 where they agree in sign."""
    steps = light[k:] - light[:-k]
    return float(np.median(np.sqrt(np.maximum(0.0, -steps[k:] * steps[:-k]))))


def longest_flat_ms(flat: Sequence[bool], times_ms: Sequence[float]) -> Measurement:
    """The longest black or empty gap; the note says where. See `LONGEST_FLAT_MS`.

    >>> gap = longest_flat_ms([True, False, True, True, False], [0.0, 1000.0, 2000.0, 3000.0, 4000.0])
    >>> gap.value, gap.note
    (2000.0, '2.0–4.0 s')
    """
    if not len(flat):
        return Measurement.missing(LONGEST_FLAT_MS, "no frame could be decoded")
    if all(flat):
        whole = Span(times_ms[0], times_ms[-1])
        length = max(0.0, whole.length_ms)
        note = "from beginning to end"
        return Measurement(definition=LONGEST_FLAT_MS, value=length, count=len(flat), note=note, span=whole)
    first, last = list(flat).index(False), len(flat) - list(flat)[::-1].index(False)
    inner = [first <= index < last and value for index, value in enumerate(flat)]
    return longest_of(LONGEST_FLAT_MS, frame_spans(inner, times_ms), len(flat))


def shown_alternation(seen: Any) -> Measurement:
    """`luma_alternation` of what the pass saw, without frames that repeat a picture."""
    fps = None if seen.fps is None else float(seen.fps)
    if seen.shown is None or not seen.shown.cadence.left_out.any():
        return luma_alternation(seen.luma_mean, fps=fps)
    kept = np.r_[True, ~seen.shown.cadence.left_out]
    return luma_alternation(seen.luma_mean[kept], fps=None if fps is None else fps * float(kept.mean()))


LUMA_ALTERNATION_METRIC = metric(
    LUMA_ALTERNATION,
    shown_alternation,
    "luma",
    label="alternation",
    room="any",
    too_high="flickers",
)
LONGEST_FLAT_MS_METRIC = of_luma(LONGEST_FLAT_MS, longest_flat_ms, "flat", "time_ms", too_high="black or empty")
