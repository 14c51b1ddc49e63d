"""What happens from one frame to the next: scene_cut_count, freeze_frame_ratio, frame_diff_spike_count."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.metrics.making import from_zero, lane, of_luma, share

FREEZE_EPSILON = 1.0
SPIKE_SIGMAS = 3.0
SCDET_THRESHOLD = 10.0

SCENE_CUT_COUNT = from_zero(
    name="scene_cut_count",
    unit="cuts",
    better="neither",
    summary="Abrupt changes of scene.",
    formula="#(s_t ≥ threshold) with m_t = 100·mean|Y_t − Y_{t−1}| / 2^bits on coded values, m_0 = 0, "
    "s_t = min(m_t, |m_t − m_{t−1}|)",
    edge_cases="Fewer than two frames: no value. A fade spreads its change and is not a cut.",
    reference="MetricBundleV1, tier 0 (ffmpeg scene detection); the rule of ffmpeg's scdet filter",
    params=signature_params(plane="luma", rule="scdet", threshold=SCDET_THRESHOLD),
    depends_on=("frame_size", "fps", "duration", "range", "transfer", "luma"),
)
FREEZE_FRAME_RATIO = share(
    name="freeze_frame_ratio",
    better="lower",
    summary="Share of frame steps that barely move. A still scene is legitimately high.",
    formula="d_t = mean|Y_t − Y_{t−1}| on 0–255; ratio = #(d_t < eps) / (frames − 1)",
    edge_cases="Fewer than two frames: no value. A difference equal to eps is not frozen.",
    reference="MetricBundleV1, tier 0",
    params=signature_params(eps=FREEZE_EPSILON, plane="luma", range="full"),
    depends_on=("frame_size", "fps", "transfer", "luma"),
    raised_by=("a still scene", "compression and denoising, which filter small changes away", "less motion"),
    lowered_by=("noise, grain and flicker", "dropped frames closed up: each step is a longer one", "camera shake"),
)
FRAME_DIFF_SPIKE_COUNT = from_zero(
    name="frame_diff_spike_count",
    unit="frames",
    better="lower",
    summary="Frame steps far above the clip's own average: glitches and sudden jumps.",
    formula="#(d_t > mean(d) + sigmas·std(d)), population std, d_t as in freeze_frame_ratio",
    edge_cases="Fewer than two frames: no value. All differences equal (std 0): 0. One step among fewer than "
    "eleven can never pass 3 standard deviations.",
    reference="MetricBundleV1, tier 0",
    params=signature_params(plane="luma", range="full", sigmas=SPIKE_SIGMAS),
    depends_on=("frame_size", "fps", "duration", "transfer", "luma"),
    raised_by=("cuts and sudden motion", "a still scene, in which a small step stands out"),
    lowered_by=("noise or shaking, in which no step stands out", "dropped frames closed up"),
)

_TOO_SHORT = "needs at least two frames"


def scene_scores(mafd: Sequence[float]) -> list[float]:
    """The scdet score of every frame step, 0 to 100.

    `mafd` is the mean absolute luma difference of each step in percent of the coded range. A constant motion scores
    low, however fast: only a step that stands out from the one before it is a cut.

    >>> scene_scores([1.0, 30.0, 31.0, 1.0])
    [1.0, 29.0, 1.0, 1.0]
    """
    scores, before = [], 0.0
    for value in mafd:
        scores.append(min(max(min(value, abs(value - before)), 0.0), 100.0))
        before = value
    return scores


def scene_cuts(mafd: Sequence[float], *, threshold: float = SCDET_THRESHOLD) -> list[int]:
    """Indices of the frames that open a new scene.

    >>> scene_cuts([1.0, 30.0, 31.0, 1.0])
    [2]
    """
    return [step + 1 for step, score in enumerate(scene_scores(mafd)) if score >= threshold]


def scene_cut_count(mafd: Sequence[float], *, threshold: float = SCDET_THRESHOLD) -> Measurement:
    """Abrupt changes of scene, by scdet's rule; see `SCENE_CUT_COUNT`."""
    definition = SCENE_CUT_COUNT.with_params(threshold=threshold)
    if len(mafd) == 0:
        return Measurement.missing(definition, _TOO_SHORT)
    return Measurement(definition=definition, value=len(scene_cuts(mafd, threshold=threshold)), count=len(mafd))


def freeze_frame_ratio(diffs: Sequence[float], *, epsilon: float = FREEZE_EPSILON) -> Measurement:
    """Share of frame steps that barely move; see `FREEZE_FRAME_RATIO`.

    `diffs` are mean absolute luma differences on the 0–255 scale, in presentation order.

    >>> freeze_frame_ratio([0.0, 0.2, 9.0, 4.0]).value
    0.5
    """
    definition = FREEZE_FRAME_RATIO.with_params(eps=epsilon)
    if len(diffs) == 0:
        return Measurement.missing(definition, _TOO_SHORT)
    frozen = sum(diff < epsilon for diff in diffs)
    return Measurement(definition=definition, value=frozen / len(diffs), count=len(diffs))


def diff_spikes(diffs: Sequence[float], *, sigmas: float = SPIKE_SIGMAS) -> list[int]:
    """Indices of the frames whose step is a spike; [] when all steps are equal.

    >>> diff_spikes([1.0] * 11 + [9.0])
    [12]
    """
    if len(diffs) == 0 or min(diffs) == max(diffs):
        return []
    mean = math.fsum(diffs) / len(diffs)
    std = math.sqrt(math.fsum((diff - mean) ** 2 for diff in diffs) / len(diffs))
    return [step + 1 for step, diff in enumerate(diffs) if diff > mean + sigmas * std]


def frame_diff_spike_count(diffs: Sequence[float], *, sigmas: float = SPIKE_SIGMAS) -> Measurement:
    """Frame steps far above the clip's own average; see `FRAME_DIFF_SPIKE_COUNT`."""
    definition = FRAME_DIFF_SPIKE_COUNT.with_params(sigmas=sigmas)
    if len(diffs) == 0:
        return Measurement.missing(definition, _TOO_SHORT)
    return Measurement(definition=definition, value=len(diff_spikes(diffs, sigmas=sigmas)), count=len(diffs))


SCENE_CUT_COUNT_METRIC = of_luma(SCENE_CUT_COUNT, scene_cut_count, "mafd", label="cuts", room="page")
FREEZE_FRAME_RATIO_METRIC = of_luma(FREEZE_FRAME_RATIO, freeze_frame_ratio, "luma_diff")
FRAME_DIFF_SPIKE_COUNT_METRIC = of_luma(
    FRAME_DIFF_SPIKE_COUNT,
    frame_diff_spike_count,
    "luma_diff",
    lane=lane("Difference", "luma_diff", "difference", (0.0, 4.0), limit=("freeze_frame_ratio", "eps", "still")),
)
