"""Cutting a rotated region out of a frame, pixel for pixel as MediaPipe does it.

MediaPipe warps with the OpenCV it is built on. What decides equality: the region's corners map to (0, 0)…(size, size)
with no half-pixel shift; the perspective matrix is solved and inverted in float64 from float32 corners; sample
positions are rounded to 1/32 px, ties to even; the eight-bit blend is fixed-point, which `cv2.remap` with int16 maps
still does and the newer warps do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]
Maps: TypeAlias = tuple[NDArray[np.int16], NDArray[np.uint16]]

# OpenCV works through the output in blocks this wide and restarts its sums at each: part of the rounding.
_BLOCK = 64
_STEPS = 32
# Added to a float64 below 2^31, it leaves the nearest integer (ties to even) in the low 32 bits.
_ROUNDING = 1.5 * 2.0**52
_WITHIN = np.arange(_BLOCK, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Region:
    """A rotated rectangle in pixels; every field has float32 precision, as in MediaPipe."""

    center_x: float
    center_y: float
    width: float
    height: float
    rotation: float
    """Radians, clockwise on screen."""


def letterbox(width: int, height: int) -> Region:
    """The square around the whole frame that a fixed-size detector sees."""
    side = float(max(width, height))
    return Region(0.5 * width, 0.5 * height, side, side, 0.0)


def sample_maps(region: Region, size: int) -> Maps:
    """Where each of size × size output pixels reads the frame: whole pixels, and 1/32 px steps within them.

    `size` is a multiple of 64. The sums are those of OpenCV's warp, block by block, so that ties fall the same way.
    """
    inverse = _output_to_frame(region, size)
    place = np.empty((2, size, size // _BLOCK, _BLOCK))
    np.add(_block_starts(inverse[0], size), inverse[0, 0] * _WITHIN, out=place[0])
    np.add(_block_starts(inverse[1], size), inverse[1, 0] * _WITHIN, out=place[1])
    place *= _scale(inverse[2], size)
    place += _ROUNDING
    steps = place.view(np.int64).astype(np.int32).reshape(2, size, size)
    whole = np.empty((size, size, 2), np.int16)
    np.right_shift(steps[0], 5, out=whole[..., 0], casting="unsafe")
    np.right_shift(steps[1], 5, out=whole[..., 1], casting="unsafe")
    steps &= _STEPS - 1
    return whole, (steps[1] * _STEPS + steps[0]).astype(np.uint16)


def sample(frame: Pixels, maps: Maps, *, replicate: bool) -> Pixels:
    """The pixels at `maps`, bilinear; outside the frame they are black, or its edge repeated."""
    border = cv2.BORDER_REPLICATE if replicate else cv2.BORDER_CONSTANT
    return np.asarray(cv2.remap(frame, maps[0], maps[1], cv2.INTER_LINEAR, borderMode=border), np.uint8)


def _output_to_frame(region: Region, size: int) -> NDArray[np.float64]:
    target = np.array([[0, size], [0, 0], [size, 0], [size, size]], np.float32)
    matrix = cv2.getPerspectiveTransform(_corners(region), target)
    return np.asarray(cv2.invert(matrix)[1], np.float64)


def _corners(region: Region) -> NDArray[np.float32]:
    """Bottom left, top left, top right, bottom right, summed in float32 as OpenCV's boxPoints does."""
    f = np.float32
    degrees = f(f(region.rotation) * f(180.0) / math.pi)
    radians = float(degrees) * math.pi / 180.0
    a, b = f(math.sin(radians)) * f(0.5), f(math.cos(radians)) * f(0.5)
    cx, cy, w, h = f(region.center_x), f(region.center_y), f(region.width), f(region.height)
    first = (cx - a * h - b * w, cy + b * h - a * w)
    second = (cx + a * h - b * w, cy - b * h - a * w)
    third = (f(2) * cx - first[0], f(2) * cy - first[1])
    fourth = (f(2) * cx - second[0], f(2) * cy - second[1])
    return np.array([first, second, third, fourth], np.float32)


def _block_starts(line: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The value of a·x + b·y + c at the first pixel of each block of each row (rows × blocks × 1)."""
    x, y = np.arange(0, size, _BLOCK, dtype=np.float64), np.arange(size, dtype=np.float64)
    starts: NDArray[np.float64] = ((line[0] * x + line[1] * y[:, None]) + line[2])[..., None]
    return starts


def _scale(line: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Steps per pixel over the perspective divisor. The divisor is 1 but for a last bit, which can decide a tie."""
    starts = _block_starts(line, size)
    if np.all(starts == starts[0, 0]) and starts[0, 0, 0] + line[0] * _WITHIN[-1] == starts[0, 0, 0]:
        return np.asarray(_STEPS / starts[0, 0], np.float64)
    return np.asarray(_STEPS / (starts + line[0] * _WITHIN), np.float64)
