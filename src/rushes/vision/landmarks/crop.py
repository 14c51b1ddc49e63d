"""Rotated regions of a frame: cutting one out, pixel for pixel as MediaPipe does it, and bringing its points back.

MediaPipe warps with the OpenCV it is built on. What decides equality: the region's corners map to (0, 0)…(size, size)
with no half-pixel shift; the perspective matrix is solved and inverted in float64 from float32 corners; sample
positions are rounded to 1/32 px, ties to even; the eight-bit blend is fixed-point, which `cv2.remap` with int16 maps
still does and the newer warps do not. The positions come from a small loop in C; `reference_crop` says the same in
numpy, and a test holds the two equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function

Pixels: TypeAlias = NDArray[np.uint8]

# OpenCV works through the output in blocks this wide and restarts its sums at each: part of the rounding.
_BLOCK = 64
_STEPS = 32


@dataclass(frozen=True, slots=True)
class Region:
    """A rotated rectangle in pixels; every field has float32 precision, as in MediaPipe."""

    center_x: float
    center_y: float
    width: float
    height: float
    rotation: float
    """Radians, clockwise on screen."""


@dataclass(frozen=True, slots=True)
class Roi:
    """A rotated rectangle in shares of the frame, float32."""

    center_x: np.float32
    center_y: np.float32
    width: np.float32
    height: np.float32
    rotation: np.float32

    def in_pixels(self, width: int, height: int) -> Region:
        w, h = np.float32(width), np.float32(height)
        return Region(
            float(self.center_x * w),
            float(self.center_y * h),
            float(self.width * w),
            float(self.height * h),
            float(self.rotation),
        )


def wrapped(angle: float) -> float:
    """The same angle within −π…π."""
    return angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))


def project(points: NDArray[np.float32], roi: Roi) -> NDArray[np.float32]:
    """Points in shares of the region (N × 3) → shares of the frame; z is scaled as x is."""
    cos, sin = np.float32(math.cos(roi.rotation)), np.float32(math.sin(roi.rotation))
    x, y = points[:, 0] - np.float32(0.5), points[:, 1] - np.float32(0.5)
    result = np.empty_like(points)
    result[:, 0] = (cos * x - sin * y) * roi.width + roi.center_x
    result[:, 1] = (sin * x + cos * y) * roi.height + roi.center_y
    result[:, 2] = points[:, 2] * roi.width
    return result


def letterbox(width: int, height: int) -> Region:
    """The square around the whole frame that a fixed-size detector sees."""
    side = float(max(width, height))
    return Region(0.5 * width, 0.5 * height, side, side, 0.0)


class Cropper:
    """Cuts size × size crops, reusing its memory from one to the next.

    Positions are worked out in blocks of 64; for a size that is no multiple of it the last block is cut off.
    Positions are computed only when the region changes: the letterbox of a clip's frames is one region.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._region: Region | None = None
        padded = math.ceil(size / _BLOCK) * _BLOCK
        self._packed = np.zeros((padded, padded), np.int32)
        self._whole = self._packed.view(np.int16).reshape(padded, padded, 2)[:size, :size]
        self._all_steps = np.zeros((padded, padded), np.uint16)
        self._steps = self._all_steps[:size, :size]
        self._levels = np.zeros((size, size, 3), np.uint8)

    def crop(self, frame: Pixels, region: Region, *, replicate: bool) -> Pixels:
        """The region's eight-bit levels; outside the frame 0, or the edge repeated. Valid until the next crop."""
        if region != self._region:
            matrix = np.ascontiguousarray(output_to_frame(region, self.size))
            call = c_function("crop_positions", "float64* int64 int32* uint16*")
            call(matrix.ctypes.data, len(self._packed), self._packed.ctypes.data, self._all_steps.ctypes.data)
            self._region = region
        border = cv2.BORDER_REPLICATE if replicate else cv2.BORDER_CONSTANT
        cv2.remap(frame, self._whole, self._steps, cv2.INTER_LINEAR, dst=self._levels, borderMode=border)
        return self._levels


def reference_crop(frame: Pixels, region: Region, size: int, *, replicate: bool) -> Pixels:
    """The same as `Cropper.crop`, written for reading."""
    inverse = output_to_frame(region, size)
    column = np.arange(size, dtype=np.float64)
    start, row = column - column % _BLOCK, column[:, None]
    planes = [((line[0] * start + line[1] * row) + line[2]) + line[0] * (column - start) for line in inverse]
    x, y = (np.rint(plane * (_STEPS / planes[2])).astype(np.int32) for plane in planes[:2])
    whole = np.stack([x >> 5, y >> 5], axis=-1).astype(np.int16)
    steps = ((y & 31) * _STEPS + (x & 31)).astype(np.uint16)
    border = cv2.BORDER_REPLICATE if replicate else cv2.BORDER_CONSTANT
    return np.asarray(cv2.remap(frame, whole, steps, cv2.INTER_LINEAR, borderMode=border), np.uint8)


def output_to_frame(region: Region, size: int) -> NDArray[np.float64]:
    """The 3 × 3 matrix from output pixels to frame pixels."""
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
