"""SSIM as Wang et al. published it in 2004."""

from __future__ import annotations

from rushes.core import Definition, signature_params
from rushes.instruments.fidelity.kernels.gaussian import HOW as WINDOWS
from rushes.instruments.fidelity.kernels.gaussian import WINDOW
from rushes.instruments.fidelity.metric import PairContext, PairMetric
from rushes.instruments.fidelity.pairs.luma import HOW, luma_similarity
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, too_small

SSIM = Definition(
    name="ssim",
    unit="1",
    lowest=-1,
    highest=1,
    better="higher",
    summary="How alike two pictures are in light, contrast and structure, window by window, on luma.",
    formula="mean over frames of the mean over windows of (2 μa μb + C1)(2 σab + C2) / ((μa² + μb² + C1)(σa² + σb² + "
    "C2)); means, variances and covariance under a Gaussian window of 11 × 11 pixels, σ 1.5, that lies wholly in the "
    "picture; C1 = (0.01 · 255)², C2 = (0.03 · 255)²",
    edge_cases="Identical pictures: 1. A picture of less than 11 × 11 pixels has no value. Luma is the coded plane on "
    "the full 0–255 scale, not clipped; pictures in RGB have MATLAB's rgb2gray, rounded. Pictures are not made smaller "
    "first: the authors' published values are without that, though a later version of their code (ssim.m) makes "
    "pictures of 384 rows and more smaller.",
    reference="Wang, Bovik, Sheikh and Simoncelli 2004; the authors' ssim_index.m",
    params=signature_params(**WINDOWS, downsampling="none", k1=0.01, k2=0.03, luma=HOW, peak=255, pool="mean"),
    depends_on=("frame_size", "transfer", "luma"),
    history=("first release", "arithmetic closer to exact: a picture's mean moves by 1e-8 to 1e-6"),
)


def observe_ssim(context: PairContext) -> PerFrame:
    """SSIM of luma, frame by frame."""
    missing = too_small(context.size, WINDOW, "the window")
    contrast = "ms_ssim" in context.asked
    return PerFrame(lambda pair: {"ssim": luma_similarity(pair, contrast=contrast).ssim}, missing=missing)


SSIM_METRIC = PairMetric.with_lane(SSIM, "SSIM", observe_ssim, (0.5, 1.0))
