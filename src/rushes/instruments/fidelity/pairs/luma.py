"""Luma of two pictures on one scale: as coded where it is coded, by MATLAB's `rgb2gray` where there is only RGB.

The values of the authors of SSIM come from `rgb2gray`, rounded to 8 bits; of the conversions in use it alone gives all
of their published numbers to the last digit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.fidelity.kernels.gaussian import Scaled, Similarity, gaussian_ssim
from rushes.instruments.fidelity.kernels.sums import squared_difference
from rushes.instruments.fidelity.pairs.picture import FramePair, Picture
from rushes.media.luma import LumaPlane, luma_layout
from rushes.native import c_function

HOW = "coded-or-rgb2gray"
"""What signatures call it."""


def luma_of(picture: Picture) -> LumaPlane:
    """Luma as coded; of a picture in RGB, `rgb2gray`."""
    video = picture.video
    if luma_layout(video.format.name, video.color_range).how == "rgb":
        return LumaPlane(rgb2gray(picture.rgb), 1.0, 0.0, True)
    return picture.luma


def lumas(pair: FramePair) -> tuple[LumaPlane, LumaPlane]:
    """The luma of both, generated first; made once for all metrics."""
    if "luma" not in pair.shared:
        pair.shared["luma"] = luma_of(pair.gen), luma_of(pair.gt)
    found: tuple[LumaPlane, LumaPlane] = pair.shared["luma"]
    return found


def scaled_luma(pair: FramePair) -> Scaled:
    """The luma of both, ready for a kernel: as coded where both are coded alike, on the 0–255 scale where not."""
    gen, gt = lumas(pair)
    if (gen.scale, gen.offset) == (gt.scale, gt.offset):
        middle = round(127.5 / gt.scale)
        shift = gt.offset + middle
        return Scaled(gen.values, gt.values, (1.0, 1.0), (shift, shift), middle, 255.0 / gt.scale)
    shifts = gen.offset * gen.scale + 127.5, gt.offset * gt.scale + 127.5
    one, other = (plane.values.astype(np.float32) for plane in (gen, gt))
    return Scaled(one, other, (gen.scale, gt.scale), shifts, 127.5, 255.0)


def luma_similarity(pair: FramePair, *, contrast: bool) -> Similarity:
    """SSIM of luma at full size, with its contrast or without; made once for SSIM and the finest scale of MS-SSIM."""
    if "luma_similarity" not in pair.shared:
        pair.shared["luma_similarity"] = gaussian_ssim(scaled_luma(pair), contrast=contrast)
    found: Similarity = pair.shared["luma_similarity"]
    return found


def luma_mse(pair: FramePair) -> float:
    """Mean squared difference of luma on the 0–255 scale, not clipped."""
    gen, gt = lumas(pair)
    if (gen.scale, gen.offset) == (gt.scale, gt.offset):
        return squared_difference(gen.values, gt.values) * gt.scale**2 / gt.values.size
    return float(np.mean((gen.full_range() - gt.full_range()) ** 2))


def rgb2gray(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Y of NTSC's YIQ, rounded: 0.298936 R + 0.587043 G + 0.114021 B, the first row of the inverse of YIQ to RGB.

    >>> rgb2gray(np.array([[[255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)).tolist()
    [[255, 76, 150, 29]]
    """
    pixels = np.ascontiguousarray(rgb)
    gray = np.empty(pixels.shape[:2], np.uint8)
    call = c_function("rgb_to_gray", "uint8* int64 uint8*")
    call(pixels.ctypes.data, gray.size, gray.ctypes.data)
    return gray
