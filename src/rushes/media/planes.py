"""The coded planes of a frame: luma and both chroma planes as stored, without a copy where the format allows it."""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from rushes.core.media_facts import Range
from rushes.media.luma import color_range_of

_PLANAR = re.compile(r"(yuvj?|yuva)(4\d\d)p(\d+)?(le|be)?")
_GRAY = re.compile(r"gray(\d+)?(le|be)?")
_BIPLANAR = re.compile(r"nv(12|16|24)")

Values = NDArray[np.uint8] | NDArray[np.uint16]


class CodedPlanes(NamedTuple):
    """Y, U and V of one frame (Y alone of a grey one) as coded, not rotated; views of the decoder's memory."""

    values: tuple[Values, ...]
    bits: int
    range: Range

    @property
    def peak(self) -> int:
        """The highest code: 2^bits − 1, for limited range too."""
        return (1 << self.bits) - 1


def coded_planes(frame: VideoFrame) -> CodedPlanes | None:
    """The planes of a frame in planar YUV, NV12 and its family, or grey; None for RGB, packed and palette formats.

    An alpha plane is left out.
    """
    name = frame.format.name
    bits = frame.format.components[0].bits
    coded = color_range_of(name, frame.color_range)
    if _GRAY.fullmatch(name):
        return CodedPlanes((plane_view(frame, 0, 0),), bits, coded)
    if _PLANAR.fullmatch(name):
        return CodedPlanes(tuple(plane_view(frame, index, index) for index in range(3)), bits, coded)
    if _BIPLANAR.fullmatch(name):
        both = plane_view(frame, 1, 1, channels=2)
        return CodedPlanes((plane_view(frame, 0, 0), both[..., 0], both[..., 1]), bits, coded)
    return None


def plane_view(frame: VideoFrame, index: int, component: int, *, channels: int = 1) -> NDArray[Any]:
    """A plane of a frame, with the size and the depth of one of its components: a view of its memory."""
    plane: Any = frame.planes[index]  # a buffer, which its stub does not say
    form = frame.format.components[component]
    height, width, line = form.height, form.width, plane.line_size
    kind = np.dtype(np.uint8 if form.bits == 8 else np.uint16)
    start = 0 if line >= 0 else -line * (height - 1)  # stored bottom-up: the first row lies last
    shape = (height, width) if channels == 1 else (height, width, channels)
    strides = (line, kind.itemsize * channels) if channels == 1 else (line, kind.itemsize * channels, kind.itemsize)
    values = np.ndarray(shape, kind, plane, start, strides)
    swapped = form.bits > 8 and VideoFormat(frame.format.name).is_big_endian != (sys.byteorder == "big")
    return values.byteswap() if swapped else values
