"""8-bit 4:2:0 frames to RGB by libswscale's own whole-number arithmetic, so that another device may do it.

libswscale turns `yuv420p` into RGB with 16-bit products, each cut down by 16 bits, and every chroma sample stands for
its four pixels:

    y = (8·Y − y_offset)·y_scale >> 16        u = 8·U − 1024        v = 8·V − 1024
    R = y + (v·v_red >> 16)        G = y + (u·u_green >> 16) + (v·v_green >> 16)        B = y + (u·u_blue >> 16)

cut to 0–255. The factors come from the matrix and the range. Other builds of libswscale round otherwise, so a process
asks its own once for each matrix and size: where one pixel differs, frames are handed over as RGB.

Reference   libswscale, `yuv2rgb.c` and its x86 forms (FFmpeg 6 to 8).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from rushes.media.luma import color_range_of, rgb_of
from rushes.media.planes import coded_planes

_FORMATS = ("yuv420p", "yuvj420p")
_MATRICES = {1: (117489, 138438, 13975, 34925), 5: (104597, 132201, 25675, 53279)}
"""Per tag: what V adds to red, U to blue, and U and V take from green, in 16-bit fractions. BT.709 and BT.601."""
_SAME_AS = {1: 1, 2: 5, 5: 5, 6: 5}
"""Tags by the matrix they use; an untagged frame (2) has BT.601."""


_ROWS = 32
"""Rows that libswscale is asked about: it converts every pair of rows alike."""


class YuvFactors(NamedTuple):
    """The factors of one matrix and range."""

    y_scale: int
    y_offset: int
    v_red: int
    u_blue: int
    u_green: int
    v_green: int


class YuvPlanes(NamedTuple):
    """One frame as stored, Y (H, W), U and V (H/2, W/2): views of the decoder's memory."""

    planes: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]
    factors: YuvFactors

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.planes[0].shape
        return height, width

    @property
    def nbytes(self) -> int:
        return sum(plane.nbytes for plane in self.planes)


def yuv_planes(frame: VideoFrame) -> YuvPlanes | None:
    """The planes of a frame whose RGB `rgb_of_planes` gives bit for bit as `rgb_of` does; None of any other."""
    if frame.format.name not in _FORMATS or frame.width % 2 or frame.height % 2:
        return None
    matrix = _SAME_AS.get(int(frame.colorspace))
    full = color_range_of(frame.format.name, frame.color_range) == "full"
    if matrix is None or not _agrees(matrix, full, frame.width, min(frame.height, _ROWS)):
        return None
    found = coded_planes(frame)
    assert found is not None
    y, u, v = found.values
    return YuvPlanes((y, u, v), yuv_factors(matrix, full=full))  # type: ignore[arg-type]


def yuv_factors(matrix: int, *, full: bool) -> YuvFactors:
    """The factors that libswscale makes of a matrix, as it rounds them.

    >>> yuv_factors(5, full=False)
    YuvFactors(y_scale=9539, y_offset=128, v_red=13075, u_blue=16525, u_green=-3209, v_green=-6660)
    """
    chroma = [value * 224 // 255 if full else value for value in _MATRICES[matrix]]
    v_red, u_blue, u_green, v_green = chroma[0], chroma[1], -chroma[2], -chroma[3]
    y_scale, y_offset = (1 << 16, 0) if full else ((255 << 16) // 219, 16)
    return YuvFactors(
        _rounded(y_scale), 8 * y_offset, _rounded(v_red), _rounded(u_blue), _rounded(u_green), _rounded(v_green)
    )


def _rounded(value: int) -> int:
    return (value * (1 << 13) + (1 << 15)) >> 16


def rgb_of_planes(y: Any, u: Any, v: Any, factors: YuvFactors) -> tuple[Any, Any, Any]:
    """Red, green and blue (…, H, W) of planes of 32-bit numbers, chroma already at the size of Y.

    Takes and gives arrays of numpy or of torch.
    """
    light = (8 * y - factors.y_offset) * factors.y_scale >> 16
    u, v = 8 * u - 1024, 8 * v - 1024
    red = light + (v * factors.v_red >> 16)
    green = light + ((u * factors.u_green >> 16) + (v * factors.v_green >> 16))
    blue = light + (u * factors.u_blue >> 16)
    return red.clip(0, 255), green.clip(0, 255), blue.clip(0, 255)


@lru_cache(maxsize=64)
def _agrees(matrix: int, full: bool, width: int, height: int) -> bool:
    """Whether this process's libswscale gives the same bytes for a frame of noise of this size."""
    frame = VideoFrame(width, height, "yuv420p")
    frame.colorspace, frame.color_range = matrix, 2 if full else 1
    planes = []
    for number, plane in enumerate(frame.planes):
        values = _noise(number, plane.height, plane.line_size)
        plane.update(values.tobytes())
        planes.append(values[:, : plane.width].astype(np.int32))
    y, u, v = planes[0], *(plane.repeat(2, 0).repeat(2, 1) for plane in planes[1:])
    ours = np.stack(rgb_of_planes(y, u, v, yuv_factors(matrix, full=full)), -1)
    return bool((ours == rgb_of(frame, VideoReformatter())).all())


def _noise(number: int, height: int, width: int) -> NDArray[np.uint8]:
    """Levels without order, of the place alone: `numpy.random` takes longer to import than a clip to decode.

    >>> _noise(0, 2, 4).tolist()
    [[0, 134, 13, 237], [142, 166, 218, 235]]
    """
    mixed: Any = np.arange(height * width, dtype=np.uint32) + np.uint32(number << 24)
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        mixed = (mixed ^ mixed >> shift) * np.uint32(factor)
    found: NDArray[np.uint8] = (mixed >> 24).astype(np.uint8).reshape(height, width)
    return found
