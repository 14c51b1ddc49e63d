"""Luma planes as coded, without a copy where the format has one.

A plane is handed out as stored, with the affine step that turns it into luma on the full 0–255 scale:

    luma = (values − offset) · scale

    limited range, n bits   offset = 16·2^(n−8)   scale = 255 / (219·2^(n−8))     not clipped: −18.6 … 278.3
    full range, n bits      offset = 0            scale = 255 / (2^n − 1)

Formats that keep n bits in the upper part of 16 (P010 and its family) have offset and scale for the shifted values, so
they too need no copy. Sums over integers stay exact; the affine step is applied to the aggregates.

Range: `yuvj*` is full; otherwise the tag decides; untagged YUV is limited, untagged gray and RGB are full.

Formats without a luma plane are converted, and say so (`converted=True`):
- packed YUV (yuyv422 …): taken apart into planes, luma values unchanged;
- RGB, palette, one-bit: to 8-bit RGB, then full-range luma with BT.601 weights, 0.299 R + 0.587 G + 0.114 B, rounded.
  Alpha is dropped, not blended.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import ColorRange, VideoReformatter
from numpy.typing import NDArray

from rushes.core.media_facts import Range

Order = Literal["rgb24", "bgr24"]

_PLANAR = re.compile(r"(yuvj?|yuva)4\d\dp(\d+)?(msb)?(le|be)?")
_GRAY = re.compile(r"gray(\d+)?(msb)?(le|be)?")
_BIPLANAR = re.compile(r"nv\d\d(le|be)?")
_HIGH_PACKED = re.compile(r"p[024]1[0-6](le|be)")
_NATIVE_BIG = sys.byteorder == "big"


class LumaPlane(NamedTuple):
    """Luma of one frame: `(values − offset) · scale` is luma on the full 0–255 scale."""

    values: NDArray[np.uint8] | NDArray[np.uint16]
    """H×W, as coded, not rotated; a view of the decoder's memory, which it keeps alive. Do not write to it."""
    scale: float
    offset: float
    converted: bool
    """True when the format has no luma plane and one was computed."""

    def full_range(self) -> NDArray[np.float64]:
        """Luma on the full 0–255 scale, not clipped.

        >>> plane = LumaPlane(np.array([[16, 235]], np.uint8), 255 / 219, 16, False)
        >>> plane.full_range().tolist()
        [[0.0, 255.0]]
        """
        return (self.values - np.float64(self.offset)) * self.scale


class LumaLayout(NamedTuple):
    """Where a pixel format keeps its luma, and what its values mean."""

    how: Literal["plane", "unpack", "rgb"]
    bits: int
    scale: float
    offset: float
    swapped: bool
    """Two-byte values in the other byte order."""


def color_range_of(pix_fmt: str, tag: int) -> Range:
    """The range of a format with this `color_range` tag.

    >>> color_range_of("yuv420p", 0), color_range_of("yuvj420p", 0), color_range_of("gray", 0)
    ('limited', 'full', 'full')
    """
    if pix_fmt.startswith("yuvj") or tag == ColorRange.JPEG:
        return "full"
    if tag == ColorRange.MPEG:
        return "limited"
    return "full" if _is_full_by_nature(pix_fmt) else "limited"


def _is_full_by_nature(pix_fmt: str) -> bool:
    """Gray, gray with alpha, palette, one-bit and RGB: full range when nothing says otherwise."""
    form = VideoFormat(pix_fmt)
    return form.is_rgb or form.has_palette or form.is_bayer or pix_fmt.startswith(("gray", "ya", "mono", "pal", "xyz"))


@lru_cache(maxsize=256)
def luma_layout(pix_fmt: str, tag: int) -> LumaLayout:
    """How to read the luma of a pixel format under a range tag.

    >>> luma_layout("yuv420p10le", 1)[:4] == ("plane", 10, 255 / 876, 64)
    True
    >>> luma_layout("p010le", 2).scale == 255 / (1023 << 6)
    True
    """
    form = VideoFormat(pix_fmt)
    bits = form.components[0].bits
    if _PLANAR.fullmatch(pix_fmt) or _GRAY.fullmatch(pix_fmt) or _BIPLANAR.fullmatch(pix_fmt):
        shift = 16 - bits if "msb" in pix_fmt else 0
        return _layout("plane", form, bits, shift, tag)
    if _HIGH_PACKED.fullmatch(pix_fmt):
        return _layout("plane", form, bits, 16 - bits, tag)
    if _is_packed_yuv(form):
        return _layout("unpack", form, bits, 0, tag)
    return LumaLayout("rgb", bits, 1.0, 0.0, False)


def _layout(how: Literal["plane", "unpack"], form: VideoFormat, bits: int, shift: int, tag: int) -> LumaLayout:
    if color_range_of(form.name, tag) == "limited":
        offset, span = 16 << (bits - 8) << shift, 219 << (bits - 8) << shift
    else:
        offset, span = 0, ((1 << bits) - 1) << shift
    swapped = how == "plane" and bits > 8 and form.is_big_endian != _NATIVE_BIG
    return LumaLayout(how, bits, 255 / span, offset, swapped)


def _is_packed_yuv(form: VideoFormat) -> bool:
    known = ("yuyv", "uyvy", "yvyu", "uyyvyy", "y2", "vuy", "ayuv", "xv", "v30x", "vyu", "xyuv")
    return form.name.startswith(known) and form.components[0].bits <= 16


def scale_of(frame: VideoFrame) -> tuple[float, float]:
    """Scale and offset of the plane that `luma_plane` gives."""
    layout = luma_layout(frame.format.name, frame.color_range)
    return layout.scale, layout.offset


def luma_plane(frame: VideoFrame, reformatter: VideoReformatter) -> LumaPlane:
    """The luma of a decoded frame; a view where the format has a luma plane."""
    layout = luma_layout(frame.format.name, frame.color_range)
    if layout.how == "plane":
        return LumaPlane(_first_plane(frame, layout), layout.scale, layout.offset, False)
    if layout.how == "unpack":
        values = _first_plane(_unpacked(frame, layout, reformatter), layout)
        return LumaPlane(values, layout.scale, layout.offset, True)
    return LumaPlane(_gray_of_rgb(rgb_of(frame, reformatter)), 1.0, 0.0, True)


def _unpacked(frame: VideoFrame, layout: LumaLayout, reformatter: VideoReformatter) -> VideoFrame:
    """Packed YUV taken apart. The same range on both sides, so that swscale only moves values."""
    depth = "" if layout.bits == 8 else f"{layout.bits}{sys.byteorder[0]}e"
    same = ColorRange.MPEG
    return reformatter.reformat(frame, format=f"yuv444p{depth}", src_color_range=same, dst_color_range=same, threads=1)


def _first_plane(frame: VideoFrame, layout: LumaLayout) -> NDArray[Any]:
    """The first plane as an array over the frame's own memory.

    One plane object and one array, made directly: `frame.planes` would make all three, and slicing several arrays; this
    runs for every frame and costs 1 µs.
    """
    plane: Any = VideoPlane(frame, 0)  # a buffer, which its stub does not say
    line, width, height = plane.line_size, frame.width, frame.height
    start = 0 if line >= 0 else -line * (height - 1)  # stored bottom-up: the first row lies last
    if layout.bits == 8:
        return np.ndarray((height, width), np.uint8, plane, start, (line, 1))
    values = np.ndarray((height, width), np.uint16, plane, start, (line, 2))
    return values.byteswap() if layout.swapped else values


def rgb_of(
    frame: VideoFrame, reformatter: VideoReformatter, order: Literal["rgb24", "bgr24"] = "rgb24"
) -> NDArray[np.uint8]:
    """The frame as H×W×3 full-range 8-bit RGB (or BGR), not rotated.

    YUV is converted with the matrix its tag names, BT.601 where it has none. A new array, contiguous.
    """
    full = color_range_of(frame.format.name, frame.color_range) == "full"
    flat = reformatter.reformat(
        frame,
        format=order,
        src_color_range=ColorRange.JPEG if full else ColorRange.MPEG,
        dst_color_range=ColorRange.JPEG,
        threads=1,
    )
    plane = flat.planes[0]
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8)[: plane.line_size * flat.height]
    return rows.reshape(flat.height, plane.line_size)[:, : flat.width * 3].reshape(flat.height, flat.width, 3)


def _gray_of_rgb(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import cv2  # only the formats without luma need it

    return cast(NDArray[np.uint8], cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY))
