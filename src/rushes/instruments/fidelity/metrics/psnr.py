"""PSNR over RGB and over luma, and the mean absolute difference over RGB."""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.instruments.fidelity.metric import PairContext, PairMetric
from rushes.instruments.fidelity.pairs.luma import HOW as LUMA
from rushes.instruments.fidelity.pairs.luma import luma_mse
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame
from rushes.instruments.fidelity.pairs.rgb import CAP, FROM_YUV, HOW, capped, observe_rgb, psnr_of

_EDGES = (
    f"A picture has {CAP:.0f} dB at most, and identical pictures have {CAP:.0f}: one identical frame would leave the "
    "clip without a mean."
)

PSNR = Definition(
    name="psnr",
    unit="dB",
    lowest=0,
    highest=CAP,
    better="higher",
    summary="How small the squared difference of two pictures is, over all three channels of 8-bit RGB.",
    formula="mean over frames of min(100, 10 log10(255² / MSE)), MSE over every sample of R, G and B together"
    + FROM_YUV,
    edge_cases=_EDGES,
    reference="Wang et al. 2004, which compares SSIM with it; peak 255",
    params=signature_params(**HOW, cap=CAP, peak=255, pool="mean"),
    depends_on=("frame_size", "transfer"),
)
PSNR_Y = replace(
    PSNR,
    name="psnr_y",
    lowest=None,
    summary="How small the squared difference of two pictures is, over luma alone.",
    formula="mean over frames of min(100, 10 log10(255² / MSE)), MSE of luma brought to the full 0–255 scale",
    edge_cases=_EDGES
    + " Luma is the coded plane, not clipped: codes of limited range are stretched by 255/219, which lowers PSNR by "
    "1.32 dB against the codes themselves (ffmpeg_psnr_y). Pictures in RGB have MATLAB's rgb2gray.",
    params=signature_params(cap=CAP, clipped=False, luma=LUMA, peak=255, pool="mean", range="full"),
    depends_on=("frame_size", "transfer", "luma"),
)


def observe_luma_psnr(context: PairContext) -> PerFrame:
    """The squared difference of luma, exact where both are coded alike."""
    return PerFrame(lambda pair: {"psnr_y": capped(psnr_of(luma_mse(pair)))})


PSNR_METRIC = PairMetric.with_lane(PSNR, "PSNR", observe_rgb, (20.0, 50.0))
PSNR_Y_METRIC = PairMetric.with_lane(PSNR_Y, "PSNR-Y", observe_luma_psnr, (20.0, 50.0))


L1 = Definition(
    name="l1",
    unit="levels",
    lowest=0,
    highest=255,
    better="lower",
    summary="Mean absolute difference of two pictures, over all three channels of 8-bit RGB, in levels of 0–255.",
    formula="mean over frames of mean |a − b| over every sample of R, G and B; divide by 255 for the 0–1 scale"
    + FROM_YUV,
    edge_cases="Identical pictures: 0. Black against white: 255.",
    reference="mean absolute error; DisCo's L1 divides it by the number of pixels as well (disco_l1)",
    params=signature_params(**HOW, pool="mean", scale=255),
    depends_on=("frame_size", "transfer"),
)
L1_METRIC = PairMetric.with_lane(L1, "L1", observe_rgb, (0.0, 20.0))
