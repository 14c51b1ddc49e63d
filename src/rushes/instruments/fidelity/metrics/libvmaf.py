"""PSNR, SSIM and MS-SSIM as libvmaf has them: other constants than in the papers and in ffmpeg's filters."""

from __future__ import annotations

from dataclasses import replace

from rushes.core import Definition, signature_params
from rushes.instruments.fidelity.ffmpeg_engine.libvmaf import MS_SSIM_SMALLEST, OPEN, RGB_RULE, observe_libvmaf
from rushes.instruments.fidelity.ffmpeg_engine.program import find_engine
from rushes.instruments.fidelity.ffmpeg_engine.raw import SMALLEST
from rushes.instruments.fidelity.metric import PairMetric

_FORMATS = (
    f"8 or 10 bits, 4:2:0, 4:2:2 or 4:4:4, both sides alike, {SMALLEST} pixels to a side at least; RGB becomes YUV by "
    "the rule named; otherwise there is no value, with the reason. Values have the six decimals of libvmaf's log."
)
_REFERENCE = "Netflix/vmaf; the program is GPL and is called, not linked"
_PLANES = {"y": "luma", "cb": "Cb", "cr": "Cr"}
_DEPENDS = ("frame_size", "range", "bit_depth", "transfer", "luma")


def _psnr(plane: str) -> Definition:
    return Definition(
        name=f"libvmaf_psnr_{plane}",
        unit="dB",
        lowest=0,
        highest=72,
        better="higher",
        summary=f"How small the squared difference of two pictures is, over {_PLANES[plane]} as coded, in libvmaf.",
        formula="mean over frames of min(6 n + 12, 10 log10((2^n − 1)² / MSE)), n bits a sample",
        edge_cases=f"Identical planes have the cap: 60 dB at 8 bits, 72 at 10. Grey clips have no chroma. {_FORMATS}",
        reference=f"{_REFERENCE}, feature psnr",
        params=signature_params(cap="6n+12", peak="2^n-1", plane=plane, pool="mean", rgb=RGB_RULE),
        open_params=OPEN,
        depends_on=_DEPENDS,
    )


LIBVMAF_SSIM = Definition(
    name="libvmaf_ssim",
    unit="1",
    lowest=-1,
    highest=1,
    better="higher",
    summary="Structural similarity of luma, in libvmaf: the picture is made smaller first.",
    formula="mean over frames of SSIM of luma after a box filter and decimation by max(1, round(shorter side / 256))",
    edge_cases=f"Identical pictures have 1. {_FORMATS}",
    reference=f"{_REFERENCE}, feature float_ssim; Wang et al. 2004",
    params=signature_params(
        decimation="shorter-side/256", k1=0.01, k2=0.03, plane="y", pool="mean", rgb=RGB_RULE, window="gaussian-11"
    ),
    open_params=OPEN,
    depends_on=_DEPENDS,
)
LIBVMAF_MS_SSIM = replace(
    LIBVMAF_SSIM,
    name="libvmaf_ms_ssim",
    summary="Structural similarity of luma over five scales, in libvmaf.",
    formula="mean over frames of the product over 5 scales of luminance (last scale), contrast and structure",
    edge_cases=f"Identical pictures have 1. A side below {MS_SSIM_SMALLEST} pixels: no value. Costs three times VMAF. "
    f"{_FORMATS}",
    reference=f"{_REFERENCE}, feature float_ms_ssim; Wang et al. 2003",
    params=signature_params(k1=0.01, k2=0.03, plane="y", pool="mean", rgb=RGB_RULE, scales=5, window="gaussian-11"),
)


def _metric(definition: Definition, label: str, low: float, high: float) -> PairMetric:
    return PairMetric.with_lane(definition, label, observe_libvmaf, (low, high), require=find_engine)


LIBVMAF_PSNR_Y_METRIC = _metric(_psnr("y"), "PSNR-Y (libvmaf)", 20.0, 50.0)
LIBVMAF_PSNR_CB_METRIC = _metric(_psnr("cb"), "PSNR-Cb (libvmaf)", 20.0, 50.0)
LIBVMAF_PSNR_CR_METRIC = _metric(_psnr("cr"), "PSNR-Cr (libvmaf)", 20.0, 50.0)
LIBVMAF_SSIM_METRIC = _metric(LIBVMAF_SSIM, "SSIM (libvmaf)", 0.5, 1.0)
LIBVMAF_MS_SSIM_METRIC = _metric(LIBVMAF_MS_SSIM, "MS-SSIM (libvmaf)", 0.5, 1.0)
