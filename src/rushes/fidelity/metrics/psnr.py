"""PSNR over RGB and over luma."""

from __future__ import annotations

from rushes.core import Definition, signature_params
from rushes.core.metric import Lane, Trace, spanning
from rushes.fidelity.luma import HOW as LUMA
from rushes.fidelity.luma import luma_mse
from rushes.fidelity.metric import PairContext, PairMetric
from rushes.fidelity.per_frame import PerFrame
from rushes.fidelity.rgb import CAP, HOW, capped, observe_rgb, psnr_of

_EDGES = (
    f"A picture has {CAP:.0f} dB at most, and identical pictures have {CAP:.0f}: one identical frame would leave the "
    "clip without a mean."
)
_REFERENCE = "Wang et al. 2004, which it is held against there; peak 255"

PSNR = Definition(
    name="psnr",
    unit="dB",
    lowest=0,
    highest=CAP,
    better="higher",
    summary="How small the squared difference of two pictures is, over all three channels of 8-bit RGB.",
    formula="mean over frames of min(100, 10 log10(255² / MSE)), MSE over every sample of R, G and B together",
    edge_cases=_EDGES,
    reference=_REFERENCE,
    params=signature_params(**HOW, cap=CAP, peak=255, pool="mean"),
    depends_on=("frame_size", "transfer"),
)
PSNR_Y = Definition(
    name="psnr_y",
    unit="dB",
    lowest=None,
    highest=CAP,
    better="higher",
    summary="How small the squared difference of two pictures is, over luma alone.",
    formula="mean over frames of min(100, 10 log10(255² / MSE)), MSE of luma brought to the full 0–255 scale",
    edge_cases=_EDGES
    + " Luma is the coded plane, not clipped: codes of limited range are stretched by 255/219, which lowers PSNR by "
    "1.32 dB against the codes themselves (ffmpeg_psnr_y). Pictures in RGB have MATLAB's rgb2gray.",
    reference=_REFERENCE,
    params=signature_params(cap=CAP, clipped=False, luma=LUMA, peak=255, pool="mean", range="full"),
    depends_on=("frame_size", "transfer", "luma"),
)


def observe_luma_psnr(context: PairContext) -> PerFrame:
    """The squared difference of luma, exact where both are coded alike."""
    return PerFrame(lambda pair: {"psnr_y": capped(psnr_of(luma_mse(pair)))})


PSNR_METRIC = PairMetric(
    definition=PSNR,
    label="PSNR",
    observe=observe_rgb,
    series="psnr",
    lane=Lane(label="PSNR", traces=(Trace(series="psnr", word="PSNR", scale=spanning(20.0, 50.0)),)),
)
PSNR_Y_METRIC = PairMetric(
    definition=PSNR_Y,
    label="PSNR-Y",
    observe=observe_luma_psnr,
    series="psnr_y",
    lane=Lane(label="PSNR-Y", traces=(Trace(series="psnr_y", word="PSNR-Y", scale=spanning(20.0, 50.0)),)),
)
