"""From a decoded frame to what the network takes, on the host: resized and normalised as the protocol names it.

Resizers are named, because the resizer decides the score. Each works on one clip's frames and gives float32, 0–255. The
library that a protocol names does the work (PIL, or torch's `interpolate`), bit for bit. TensorFlow's old resizer is
written out here, so that nobody needs TensorFlow for it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError
from rushes.media.find.sequences import Pixels
from rushes.vision.normalise import normalised

if TYPE_CHECKING:
    from rushes.instruments.distribution.protocols import Recipe

Resizer: TypeAlias = Literal[
    "pil-bicubic-squash", "bilinear-squash", "tf1-bilinear-squash", "bilinear-short-crop", "bilinear-aa256up-uint8"
]
RESIZERS: tuple[Resizer, ...] = get_args(Resizer)

Prepared: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.int64]


def prepared(frame: Pixels, recipe: Recipe) -> Prepared:
    """A frame (H, W, 3) of 0–255 as the recipe's network takes it: (S, S, 3), float32."""
    if recipe.picture is not None:
        return recipe.picture.prepared(frame)
    return normalised(resize_frames(frame[None], recipe.size, recipe.resize)[0], recipe.normalise)


def resize_frames(frames: Pixels, size: int, resizer: Resizer) -> Prepared:
    """Frames (T, H, W, 3) of 0–255 to (T, size, size, 3) float32 on the same scale.

    pil-bicubic-squash      PIL's bicubic (antialiased) on each channel as float32, not clipped: DisCo, GenHOI
    bilinear-squash         torch bilinear, no antialias, aspect ratio not kept: StyleGAN-V
    tf1-bilinear-squash     TensorFlow 1's `resize_bilinear`, which has no half-pixel centres: output i is read at
                            i·scale, not at (i + ½)·scale − ½; aspect ratio not kept: the TensorFlow original
    bilinear-short-crop     torch bilinear, no antialias, shorter side to `size` (the other rounded up), centre crop:
                            VideoGPT
    bilinear-aa256up-uint8  torch antialiased bilinear, shorter side to 256 (the other rounded up), centre crop, cut
                            to whole numbers; then bilinear-squash: cd-fvd
    """
    if frames.ndim != 4 or frames.shape[-1] != 3 or 0 in frames.shape:
        raise InputError(f"expected frames (T, H, W, 3); got {frames.shape}")
    if resizer not in RESIZERS:
        raise InputError(f"expected a resizer out of {', '.join(RESIZERS)}; got {resizer!r}")
    if resizer == "pil-bicubic-squash":
        return _pil_bicubic(frames, size)
    if resizer == "tf1-bilinear-squash":
        return _legacy_bilinear(frames, size)
    if resizer == "bilinear-short-crop":
        return _centre(_bilinear(frames, short_side(frames.shape[1], frames.shape[2], size)), size)
    return _bilinear(_antialiased_256(frames) if resizer == "bilinear-aa256up-uint8" else frames, (size, size))


def _pil_bicubic(frames: Pixels, size: int) -> Prepared:
    from PIL import Image

    out = np.empty((len(frames), size, size, 3), np.float32)
    for index, frame in enumerate(frames):
        for channel in range(3):
            plane = Image.fromarray(frame[..., channel].astype(np.float32))
            out[index, ..., channel] = np.asarray(plane.resize((size, size), Image.Resampling.BICUBIC))
    return out


def _bilinear(
    frames: Pixels | Prepared, size: tuple[int, int], *, antialias: bool = False, scale: float = 1.0
) -> Prepared:
    import torch
    from torch.nn import functional as F

    planes = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float()
    if scale != 1.0:
        planes = planes / scale
    resized = F.interpolate(planes, size=size, mode="bilinear", align_corners=False, antialias=antialias)
    return resized.permute(0, 2, 3, 1).contiguous().numpy()


def legacy_places(size: int, out: int) -> tuple[Places, Places, Prepared]:
    """One axis of TensorFlow 1's resizer: the two places that output i lies between, and how far it is to the second.

    Formula     x = i·(size/out); lower = ⌊x⌋, upper = min(⌈x⌉, size − 1), far = x − ⌊x⌋, all in float32 as there

    >>> [part.tolist() for part in legacy_places(3, 4)]
    [[0, 0, 1, 2], [0, 1, 2, 2], [0.0, 0.75, 0.5, 0.25]]
    """
    scale = np.float32(size) / np.float32(out)
    x = np.arange(out, dtype=np.float32) * scale
    floor = np.floor(x)
    upper = np.minimum(np.ceil(x).astype(np.int64), size - 1)
    return floor.astype(np.int64), upper, x - floor


def _legacy_bilinear(frames: Pixels, size: int) -> Prepared:
    """Across first, then down; each is a + (b − a)·far, in that order and in float32."""
    top, bottom, down = legacy_places(frames.shape[1], size)
    left, right, across = legacy_places(frames.shape[2], size)

    def row(places: Places) -> Prepared:
        rows = frames[:, places]
        first, second = rows[:, :, left].astype(np.float32), rows[:, :, right].astype(np.float32)
        return first + (second - first) * across[:, None]

    above = row(top)
    return above + (row(bottom) - above) * down[:, None, None]


def _antialiased_256(frames: Pixels) -> Pixels:
    resized = _bilinear(frames, short_side(frames.shape[1], frames.shape[2], 256), antialias=True, scale=255.0)
    return (_centre(resized, 256) * np.float32(255.0)).clip(0, 255).astype(np.uint8)


def short_side(height: int, width: int, size: int) -> tuple[int, int]:
    """(height, width) with the shorter side at `size` and the other rounded up, as both peers compute it."""
    scale = size / min(height, width)
    return (size, math.ceil(width * scale)) if height < width else (math.ceil(height * scale), size)


def _centre(frames: Prepared, size: int) -> Prepared:
    top, left = (frames.shape[1] - size) // 2, (frames.shape[2] - size) // 2
    return np.ascontiguousarray(frames[:, top : top + size, left : left + size])
