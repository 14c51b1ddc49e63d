"""All that is read off the differences of two RGB pictures, in one walk over them, whichever numbers are asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rushes.core.definition import Setting
from rushes.instruments.fidelity.kernels.sums import rgb_sums
from rushes.instruments.fidelity.metric import PairContext
from rushes.instruments.fidelity.pairs.per_frame_observer import PerFrame
from rushes.instruments.fidelity.pairs.picture import FramePair

CAP = 100.0
"""Decibels that a picture can have at most, and what identical ones have: without it a clip with one identical frame
would have no mean."""
COMMON_FLOOR = 1e-10
"""Mean squared difference of 0–1 values below which common_metrics_on_video_quality takes pictures for equal."""
HOW: Mapping[str, Setting] = {"bits": 8, "colour": "rgb", "matrix": "tag-or-bt601", "range": "full"}
"""What signatures say about the pictures."""
FROM_YUV = (
    "; YUV becomes RGB by swscale, chroma brought to full size by its default scaler (bicubic), by the tagged matrix "
    "or BT.601"
)
"""What formulas say about it: another scaler moves PSNR by some hundredths of a decibel."""


def observe_rgb(context: PairContext) -> PerFrame:
    """One walk over both pictures, for every metric of this kind."""
    return PerFrame(_values)


def psnr_of(mse: float, *, peak: float = 255.0, equal: float = math.inf) -> float:
    """10 log10(peak² / mse) in decibels; `equal` where the mean squared difference is 0.

    >>> psnr_of(0.0), round(psnr_of(65.025), 12), psnr_of(65025.0)
    (inf, 30.0, 0.0)
    """
    return 10 * math.log10(peak * peak / mse) if mse > 0 else equal


def capped(psnr: float) -> float:
    """At most `CAP`."""
    return min(psnr, CAP)


def _values(pair: FramePair) -> Mapping[str, float]:
    sums = rgb_sums(pair.gen.rgb, pair.gt.rgb)
    l1, mse = sums.absolute / sums.samples, sums.squared / sums.samples
    return {
        "psnr": capped(psnr_of(mse)),
        "l1": l1,
        "disco_psnr": psnr_of(mse, equal=100.0),
        "disco_2023_psnr": psnr_of(sums.wrapped / sums.samples, equal=100.0),
        "disco_l1": l1 / (sums.samples // 3),
        "common_psnr": 100.0 if mse / 255.0**2 < COMMON_FLOOR else psnr_of(mse),
    }
