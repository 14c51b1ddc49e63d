"""What single frames look like over time: flicker_score, blur_score and sharpness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import median

from rushes.core import Measurement, signature_params
from rushes.instruments.clip.frames.detail import HEIGHT
from rushes.instruments.clip.metrics.making import from_zero, lane, of_luma, share

_flicker = partial(from_zero, name="flicker_score", unit="luma levels", better="lower")
_blur = partial(
    from_zero,
    name="blur_score",
    unit="luma levels²",
    better="higher",
    edge_cases="No frame, or frames less than 2 pixels wide or high: no value.",
    depends_on=("frame_size", "bit_depth", "transfer", "luma"),
    raised_by=("noise and grain", "ringing, blocking and sharpening", "detail in the scene"),
    lowered_by=("denoising and compression", "a dark, plain or shallow-focus scene"),
)

FLICKER_SCORE = _flicker(
    summary="How much the overall brightness wanders. A slow fade or a lighting change is legitimately high.",
    formula="population std of m_t, m_t = mean luma of frame t on 0–255",
    edge_cases="No frame: no value. One frame: 0.",
    reference="MetricBundleV1, tier 0",
    params=signature_params(plane="luma", range="full", statistic="std"),
    depends_on=("duration", "transfer", "luma"),
    raised_by=("fades, pans and changes of light", "more contrast"),
    lowered_by=("a still or dark scene", "compression", "less contrast"),
)
FLICKER_DELTA = _flicker(
    summary="How much the overall brightness jumps from frame to frame; blind to slow fades.",
    formula="mean of |m_t − m_{t−1}|, m_t = mean luma of frame t on 0–255",
    edge_cases="Fewer than two frames: no value.",
    reference="MetricBundleV1, tier 0 (its second reading)",
    params=signature_params(plane="luma", range="full", statistic="mean-abs-delta"),
    depends_on=("fps", "transfer", "luma"),
    raised_by=("motion, cuts and changes of light", "dropped frames closed up", "more contrast"),
    lowered_by=("a still or dark scene", "compression", "less contrast"),
)
BLUR_SCORE = _blur(
    summary="Sharpness: low is blurry. It grows with noise and depends on the frame size.",
    formula="mean over frames of var(L), L = 4-neighbour Laplacian of luma on 0–255, borders reflected",
    reference="MetricBundleV1, tier 0; equals cv2.Laplacian(gray, CV_64F).var()",
    params=signature_params(border="reflect101", plane="luma", range="full", statistic="mean"),
)
BLUR_P10 = _blur(
    summary="Sharpness of the blurriest tenth of the frames: finds a blur that the mean hides.",
    formula="10th percentile over frames of var(L), linear between ranks; L as in the mean",
    reference="MetricBundleV1, tier 0 (optional p10)",
    params=signature_params(border="reflect101", plane="luma", range="full", statistic="p10"),
)

SAMPLE_MS = 1000.0
"""Time from one frame whose sharpness is taken to the next: a clip's focus does not change faster."""
SHARPNESS = share(
    name="sharpness",
    better="higher",
    summary="Sharpness at one height, free of frame size and contrast: the share of detail a one-pixel blur takes.",
    formula="median over frames of 1 − E(b) / E(g): g the luma reduced to 192 rows (by area), b = g blurred by "
    "[1 4 6 4 1] / 16 both ways, E the sum of squared differences of neighbours; one frame a second, from the first",
    edge_cases="No frame with any gradient, or frames of less than 8 pixels: no value. A clip of fewer than 192 rows "
    "is measured as it is. Noise and blocks count as detail.",
    reference="beside MetricBundleV1; after Crete et al. 2007, who hold a picture against its own blur",
    params=signature_params(every_ms=SAMPLE_MS, height=HEIGHT, plane="luma", statistic="median"),
    depends_on=("frame_size", "luma"),
    raised_by=("noise and grain", "ringing, blocking and sharpening", "fine texture in the scene"),
    lowered_by=("denoising and compression", "motion blur", "a plain or shallow-focus scene"),
)

_NO_FRAMES = "no frame could be decoded"


def flicker_score(luma_means: Sequence[float]) -> Measurement:
    """Population standard deviation of mean luma; see `FLICKER_SCORE`.

    >>> flicker_score([100.0, 110.0, 100.0, 110.0]).value
    5.0
    """
    if len(luma_means) == 0:
        return Measurement.missing(FLICKER_SCORE, _NO_FRAMES)
    mean = math.fsum(luma_means) / len(luma_means)
    variance = math.fsum((value - mean) ** 2 for value in luma_means) / len(luma_means)
    return Measurement(definition=FLICKER_SCORE, value=math.sqrt(variance), count=len(luma_means))


def flicker_delta(luma_means: Sequence[float]) -> Measurement:
    """Mean absolute step of mean luma; see `FLICKER_DELTA`.

    >>> flicker_delta([100.0, 110.0, 100.0, 110.0]).value
    10.0
    """
    if len(luma_means) < 2:
        return Measurement.missing(FLICKER_DELTA, "needs at least two frames")
    steps = [abs(after - before) for before, after in zip(luma_means, luma_means[1:], strict=False)]
    return Measurement(definition=FLICKER_DELTA, value=math.fsum(steps) / len(steps), count=len(steps))


def blur_score(laplacian_variances: Sequence[float]) -> Measurement:
    """Mean Laplacian variance; see `BLUR_SCORE`.

    >>> blur_score([10.0, 30.0]).value
    20.0
    """
    if len(laplacian_variances) == 0:
        return Measurement.missing(BLUR_SCORE, "no frame of at least 2×2 pixels could be decoded")
    value = math.fsum(laplacian_variances) / len(laplacian_variances)
    return Measurement(definition=BLUR_SCORE, value=value, count=len(laplacian_variances))


def blur_p10(laplacian_variances: Sequence[float]) -> Measurement:
    """10th percentile of the Laplacian variance; see `BLUR_P10`.

    >>> blur_p10([0.0, 10.0, 20.0]).value
    2.0
    """
    if len(laplacian_variances) == 0:
        return Measurement.missing(BLUR_P10, "no frame of at least 2×2 pixels could be decoded")
    ranked = sorted(laplacian_variances)
    position = 0.1 * (len(ranked) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ranked) - 1)
    value = ranked[below] + (position - below) * (ranked[above] - ranked[below])
    return Measurement(definition=BLUR_P10, value=value, count=len(ranked))


def sharpness(details: Sequence[float]) -> Measurement:
    """Median of the detail of the frames looked at, NaN where there was none to see; see `SHARPNESS`.

    >>> sharpness([float("nan"), 0.6, 0.5, 0.7]).value
    0.6
    """
    known = [value for value in details if not math.isnan(value)]
    if not known:
        return Measurement.missing(SHARPNESS, "no frame has any detail")
    return Measurement(definition=SHARPNESS, value=median(known), count=len(known))


def _luma_scale(low: float, high: float) -> tuple[float, float]:
    """At least 24 levels high, within 0 to 255."""
    return max(0.0, min(low, (low + high) / 2 - 12)), min(255.0, max(high, low + 24))


FLICKER_SCORE_METRIC = of_luma(
    FLICKER_SCORE, flicker_score, "luma_mean", lane=lane("Luma", "luma_mean", "luma", _luma_scale)
)
FLICKER_DELTA_METRIC = of_luma(FLICKER_DELTA, flicker_delta, "luma_mean")
BLUR_SCORE_METRIC = of_luma(
    BLUR_SCORE,
    blur_score,
    "laplacian_variance",
    lane=lane("Blur score", "laplacian_variance", "blur score", pooled_by="blur_score"),
)
BLUR_P10_METRIC = of_luma(BLUR_P10, blur_p10, "laplacian_variance")
SHARPNESS_METRIC = of_luma(
    SHARPNESS,
    sharpness,
    "sharpness",
    label="sharpness",
    room="any",
    too_high="noise in place of detail",
    too_low="soft",
)
