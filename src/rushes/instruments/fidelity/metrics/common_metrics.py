"""PSNR and SSIM as JunyaoHu/common_metrics_on_video_quality computes them, on pictures of 0–1 values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rushes.core import signature_params
from rushes.instruments.fidelity.kernels.gaussian import HOW as WINDOWS
from rushes.instruments.fidelity.kernels.gaussian import WINDOW, Scaled, gaussian_ssim
from rushes.instruments.fidelity.metric import PairContext, PairMetric
from rushes.instruments.fidelity.metrics.psnr import PSNR
from rushes.instruments.fidelity.metrics.ssim import SSIM
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, too_small
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.rgb import COMMON_FLOOR, FROM_YUV, HOW, observe_rgb

_REFERENCE = "JunyaoHu/common_metrics_on_video_quality"

COMMON_PSNR = replace(
    PSNR,
    name="common_psnr",
    highest=None,
    summary="PSNR over RGB of 0–1 values; pictures that are nearly equal have 100 dB.",
    formula="mean over frames of 20 log10(1 / √MSE), MSE over every sample of R, G and B together, values over 255"
    + FROM_YUV,
    edge_cases="100 dB where MSE is below 1e-10: identical pictures, and large ones that differ in a few samples.",
    reference=f"{_REFERENCE}, calculate_psnr.py",
    params=signature_params(**HOW, equal=100, equal_below=COMMON_FLOOR, peak=1, pool="mean"),
)
COMMON_SSIM = replace(
    SSIM,
    name="common_ssim",
    summary="SSIM of R, G and B, one after the other, and the mean of the three.",
    formula="mean over frames and over R, G and B of the mean over windows of (2 μa μb + C1)(2 σab + C2) / ((μa² + μb² "
    "+ C1)(σa² + σb² + C2)), under a Gaussian window of 11 × 11 pixels, σ 1.5, that lies wholly in the picture; values "
    "over 255, C1 = 0.01², C2 = 0.03²" + FROM_YUV,
    edge_cases="Identical pictures: 1. A picture of less than 11 × 11 pixels has no value.",
    reference=f"{_REFERENCE}, calculate_ssim.py",
    params=signature_params(
        **HOW, **WINDOWS, channels="mean", downsampling="none", k1=0.01, k2=0.03, peak=1, pool="mean"
    ),
    depends_on=("frame_size", "transfer"),
)


def observe_rgb_ssim(context: PairContext) -> PerFrame:
    """SSIM of each channel of RGB, frame by frame."""
    return PerFrame(_rgb_ssim, missing=too_small(context.size, WINDOW, "the window"))


def _rgb_ssim(pair: FramePair) -> dict[str, float]:
    gen, gt = (np.ascontiguousarray(np.moveaxis(picture.rgb, 2, 0)) for picture in (pair.gen, pair.gt))
    found = [gaussian_ssim(Scaled(one, other)).ssim for one, other in zip(gen, gt, strict=True)]
    return {"common_ssim": math.fsum(found) / 3}


COMMON_PSNR_METRIC = PairMetric.with_lane(COMMON_PSNR, "PSNR (common-metrics)", observe_rgb, (20.0, 50.0), lane="PSNR")
COMMON_SSIM_METRIC = PairMetric.with_lane(
    COMMON_SSIM, "SSIM (common-metrics)", observe_rgb_ssim, (0.5, 1.0), lane="SSIM"
)
