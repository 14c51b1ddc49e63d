"""SSIM over five scales as Wang et al. published it in 2003."""

from __future__ import annotations

import math
from dataclasses import replace

from rushes.core import signature_params
from rushes.instruments.fidelity.kernels.gaussian import WINDOW, Scaled, Similarity, gaussian_ssim, halved
from rushes.instruments.fidelity.metric import PairContext, PairMetric
from rushes.instruments.fidelity.metrics.ssim import SSIM
from rushes.instruments.fidelity.pairs.luma import luma_similarity, scaled_luma
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame, too_small

WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""From the finest scale to the coarsest."""
SMALLEST = WINDOW << (len(WEIGHTS) - 1)
"""Pixels of the shorter side at which the window still fits into the coarsest scale: 176."""

MS_SSIM = replace(
    SSIM,
    name="ms_ssim",
    lowest=0,
    summary="SSIM over five scales: contrast and structure at each, light at the coarsest.",
    formula="mean over frames of SSIM_5^w5 · Π_{i<5} CS_i^wi, w = .0448 .2856 .3001 .2363 .1333; CS is SSIM without "
    "the term of the means; each scale is the mean of 2 × 2 pixels of the one before, from the top left",
    edge_cases=f"Identical pictures: 1. A picture whose shorter side has less than {SMALLEST} pixels has no value: the "
    "window does not fit into its coarsest scale. A scale whose mean is negative counts as 0, where the authors' code "
    "gives a complex number. A last row or column that is alone counts twice. The authors' code can take a weighted "
    "mean in place of the product, and some published values are that: it is up to .005 higher on noise.",
    reference="Wang, Simoncelli and Bovik 2003; the authors' msssim.m",
    params=signature_params(
        **dict(SSIM.params) | {"downsampling": "mean-2x2"},
        combined="product",
        negative=0,
        weights="-".join(f"{weight:.4f}"[1:] for weight in WEIGHTS),
    ),
)


def scales(pair: Scaled, finest: Similarity) -> list[float]:
    """Contrast and structure at the four finer scales, SSIM at the coarsest; `finest` is of the pair as it is."""
    found = [finest]
    for _ in WEIGHTS[1:]:
        pair = halved(pair)
        found.append(gaussian_ssim(pair))
    return [*(each.contrast for each in found[:-1]), found[-1].ssim]


def multi_scale(pair: Scaled, finest: Similarity) -> float:
    """MS-SSIM of two pictures whose shorter side has at least `SMALLEST` pixels."""
    values = zip(scales(pair, finest), WEIGHTS, strict=True)
    return math.prod(math.pow(max(value, 0.0), weight) for value, weight in values)


def observe_ms_ssim(context: PairContext) -> PerFrame:
    """MS-SSIM of luma, frame by frame."""
    missing = too_small(context.size, SMALLEST, "its pyramid of five scales")
    return PerFrame(
        lambda pair: {"ms_ssim": multi_scale(scaled_luma(pair), luma_similarity(pair, contrast=True))}, missing=missing
    )


MS_SSIM_METRIC = PairMetric.with_lane(MS_SSIM, "MS-SSIM", observe_ms_ssim, (0.5, 1.0))
