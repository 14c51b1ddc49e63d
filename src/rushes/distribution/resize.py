"""Named resizers, because the resizer decides the score. Each works on one clip's frames and gives float32, 0–255.

On a CPU the library that a protocol names does the work (PIL, or torch's `interpolate`), bit for bit. The same recipes
exist as tables of taps for the GPU (`axis_taps`), equal within float32 rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rushes.errors import InputError

Resizer: TypeAlias = Literal["pil-bicubic-squash", "bilinear-squash", "bilinear-short-crop", "bilinear-aa256-uint8"]
RESIZERS: tuple[Resizer, ...] = get_args(Resizer)

Pixels = NDArray[np.uint8]
Resized = NDArray[np.float32]


def resize_frames(frames: Pixels, size: int, resizer: Resizer) -> Resized:
    """Frames (T, H, W, 3) of 0–255 to (T, size, size, 3) float32 on the same scale.

    pil-bicubic-squash      PIL's bicubic (antialiased) on each channel as float32, not clipped: DisCo, GenHOI
    bilinear-squash         torch bilinear, no antialias, aspect ratio not kept: the TensorFlow original
    bilinear-short-crop     torch bilinear, no antialias, shorter side to `size` (the other rounded up), centre crop:
                            VideoGPT
    bilinear-aa256-uint8    torch antialiased bilinear, shorter side to 256, centre crop, cut to whole numbers; then
                            bilinear-squash: cd-fvd
    """
    if frames.ndim != 4 or frames.shape[-1] != 3 or 0 in frames.shape:
        raise InputError(f"expected frames (T, H, W, 3); got {frames.shape}")
    if resizer == "pil-bicubic-squash":
        return _pil_bicubic(frames, size)
    if resizer == "bilinear-squash":
        return _bilinear(frames, (size, size))
    if resizer == "bilinear-short-crop":
        return _short_crop(frames, size)
    return _bilinear(_antialiased_256(frames), (size, size))


def _pil_bicubic(frames: Pixels, size: int) -> Resized:
    from PIL import Image

    out = np.empty((len(frames), size, size, 3), np.float32)
    for index, frame in enumerate(frames):
        for channel in range(3):
            plane = Image.fromarray(frame[..., channel].astype(np.float32))
            out[index, ..., channel] = np.asarray(plane.resize((size, size), Image.Resampling.BICUBIC))
    return out


def _bilinear(
    frames: Pixels | Resized, size: tuple[int, int], *, antialias: bool = False, scale: float = 1.0
) -> Resized:
    import torch
    from torch.nn import functional as F

    planes = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()
    if scale != 1.0:
        planes = planes / scale
    resized = F.interpolate(planes, size=size, mode="bilinear", align_corners=False, antialias=antialias)
    return resized.permute(0, 2, 3, 1).contiguous().numpy()


def _short_crop(frames: Pixels, size: int) -> Resized:
    height, width = frames.shape[1:3]
    scale = size / min(height, width)
    tall, wide = (size, math.ceil(width * scale)) if height < width else (math.ceil(height * scale), size)
    return _centre(_bilinear(frames, (tall, wide)), size)


def _antialiased_256(frames: Pixels) -> Pixels:
    height, width = frames.shape[1:3]
    short = min(height, width)
    size = (256 * height // short, 256 * width // short)
    resized = _centre(_bilinear(frames, size, antialias=True, scale=255.0), 256)
    return (resized * np.float32(255.0)).clip(0, 255).astype(np.uint8)


def _centre(frames: Resized, size: int) -> Resized:
    top, left = (frames.shape[1] - size) // 2, (frames.shape[2] - size) // 2
    return np.ascontiguousarray(frames[:, top : top + size, left : left + size])


@dataclass(frozen=True)
class AxisTaps:
    """One axis of a resizer as a table: output i is Σ_k weight[i, k] · input[start[i] + k]."""

    start: NDArray[np.int32]
    weight: NDArray[np.float32]


def axis_taps(size: int, out: int, resizer: Resizer) -> AxisTaps:
    """The table of a squashing resizer along one axis.

    PIL's bicubic: support 2·max(scale, 1) around (i + ½)·scale, a = −½, weights made to add up to 1.
    Bilinear without antialias: the two neighbours of (i + ½)·scale − ½, clamped at the border.
    """
    if resizer == "pil-bicubic-squash":
        return _bicubic_taps(size, out)
    if resizer == "bilinear-squash":
        return _bilinear_taps(size, out)
    raise InputError(f"{resizer} crops, so it is not a table of one axis; it runs on the CPU")


def _bicubic_taps(size: int, out: int) -> AxisTaps:
    scale = size / out
    stretch = max(scale, 1.0)
    centre = (np.arange(out) + 0.5) * scale
    start = np.maximum((centre - 2 * stretch + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + 2 * stretch + 0.5).astype(np.int64), size)
    place = start[:, None] + np.arange(int((end - start).max()))
    weight = np.where(place < end[:, None], _cubic((place - centre[:, None] + 0.5) / stretch), 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    return AxisTaps(start.astype(np.int32), weight.astype(np.float32))


def _cubic(x: NDArray[np.float64], a: float = -0.5) -> NDArray[np.float64]:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _bilinear_taps(size: int, out: int) -> AxisTaps:
    half = np.float32(0.5)  # torch computes the places in float32, and so must the table
    place = np.maximum((np.arange(out, dtype=np.float32) + half) * np.float32(size / out) - half, np.float32(0))
    start = np.minimum(place.astype(np.int64), size - 1)
    far = place - start.astype(np.float32)
    far[start == size - 1] = 0.0
    return AxisTaps(start.astype(np.int32), np.stack([1 - far, far], axis=1).astype(np.float32))
