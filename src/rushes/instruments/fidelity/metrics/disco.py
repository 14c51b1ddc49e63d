"""The columns of human-animation papers, as DisCo's scripts compute them; MagicAnimate, Champ and others have copies.

`disco_2023_psnr` is what those scripts printed until April 2024: pictures were subtracted as 8-bit integers, which wrap
around. It is for checking old tables, and for nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from rushes.core import signature_params
from rushes.instruments.fidelity.kernels.boxes import WINDOW, box_ssim
from rushes.instruments.fidelity.metric import PairContext, PairMetric
from rushes.instruments.fidelity.metrics.psnr import L1, PSNR
from rushes.instruments.fidelity.metrics.ssim import SSIM
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, too_small
from rushes.instruments.fidelity.pairs.picture import FramePair
from rushes.instruments.fidelity.pairs.rgb import FROM_YUV, HOW, observe_rgb

_REFERENCE = "Wangt-CN/DisCo, tool/metrics/ssim_l1_lpips_psnr.py"

DISCO_PSNR = replace(
    PSNR,
    name="disco_psnr",
    highest=None,
    summary="PSNR over 8-bit RGB as DisCo computes it since April 2024, without the overflow of its first version.",
    formula="mean over frames of 20 log10(255 / √MSE), MSE over every sample of R, G and B together" + FROM_YUV,
    edge_cases="Identical pictures have 100 dB; nearly identical large ones may have more.",
    reference=f"{_REFERENCE}, 6190108",
    params=signature_params(**HOW, difference="float", identical=100, peak=255, pool="mean"),
)
DISCO_2023_PSNR = replace(
    DISCO_PSNR,
    name="disco_2023_psnr",
    summary="PSNR with the 8-bit overflow of DisCo's first version, for checking old tables: it is no PSNR, and 4 to "
    "20 dB too high on real pictures.",
    formula="mean over frames of 20 log10(255 / √MSE'), MSE' the mean of ((a − b) mod 256)² mod 256 over R, G and B"
    + FROM_YUV,
    edge_cases="Pictures that are identical have 100 dB, and so have any that differ by multiples of 16 alone: 16² is "
    "256, which wraps to 0.",
    reference=f"{_REFERENCE}, 4772790 (2023); copied by MagicAnimate, Champ and others",
    params=signature_params(**HOW, difference="uint8-wraps", identical=100, peak=255, pool="mean"),
)
DISCO_SSIM = replace(
    SSIM,
    name="disco_ssim",
    summary="SSIM of 8-bit grey pictures under a plain 7 × 7 window: scikit-image with nothing set, as DisCo calls it.",
    formula="mean over frames of the mean over windows of (2 μa μb + C1)(2 σab + C2) / ((μa² + μb² + C1)(σa² + σb² + "
    "C2)), every pixel of the 7 × 7 counted alike, variances over 48; C1 = (0.01 · 255)², C2 = (0.03 · 255)²"
    + FROM_YUV,
    edge_cases="Identical pictures: 1. A picture of less than 7 × 7 pixels has no value. Grey is OpenCV's of RGB, "
    "0.299 R + 0.587 G + 0.114 B, rounded, whatever the luma of the file.",
    reference=f"{_REFERENCE}; scikit-image, structural_similarity",
    params=signature_params(
        **HOW,
        covariance="sample",
        grey="opencv-rounded",
        k1=0.01,
        k2=0.03,
        peak=255,
        pool="mean",
        precision="float64",
        window=f"uniform-{WINDOW}",
        windows="valid",
    ),
    depends_on=("frame_size", "transfer"),
)
DISCO_L1 = replace(
    L1,
    name="disco_l1",
    unit="levels/pixel",
    highest=None,
    summary="Mean absolute difference over 8-bit RGB, divided by a picture's number of pixels, as DisCo prints it.",
    formula="mean over frames of mean |a − b| / (width · height), over every sample of R, G and B, in levels of 0–255"
    + FROM_YUV,
    edge_cases="Identical pictures: 0. It falls with the size of the pictures by its definition: 25 levels are 3.8e-4 "
    "at 256 × 256 and 9.5e-5 at 512 × 512.",
    reference=_REFERENCE,
    params=signature_params(**HOW, per="pixels", pool="mean", scale=255),
)


def observe_grey_ssim(context: PairContext) -> PerFrame:
    """SSIM of OpenCV's grey, frame by frame."""
    return PerFrame(_grey_ssim, missing=too_small(context.size, WINDOW, "the window"))


def _grey_ssim(pair: FramePair) -> dict[str, float]:
    import cv2  # the conversion is part of the definition

    gen, gt = (cv2.cvtColor(picture.rgb, cv2.COLOR_RGB2GRAY) for picture in (pair.gen, pair.gt))
    value = box_ssim(gen, gt)  # type: ignore[arg-type]
    assert value is not None  # the observer does not ask where pictures are too small
    return {"disco_ssim": value}


DISCO_PSNR_METRIC = PairMetric.with_lane(DISCO_PSNR, "PSNR (DisCo)", observe_rgb, (20.0, 50.0))
DISCO_2023_PSNR_METRIC = PairMetric.with_lane(DISCO_2023_PSNR, "PSNR (DisCo 2023, wraps)", observe_rgb, (20.0, 50.0))
DISCO_SSIM_METRIC = PairMetric.with_lane(DISCO_SSIM, "SSIM (DisCo)", observe_grey_ssim, (0.5, 1.0))
DISCO_L1_METRIC = PairMetric.with_lane(DISCO_L1, "L1 (DisCo)", observe_rgb, (0.0, 1e-4))
