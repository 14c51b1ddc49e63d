"""All sums of one frame in one call: light, change, texture and colour of blocks, and those of `LumaSums`.

The call is given addresses and writes means where they are kept, because between two frames the decoder has emptied the
processor's caches: making a dozen arrays, and taking them apart again, costs as much as the sums. For 8-bit planes
alone; `luma_sums` and `chroma_sums` have the same for all others, and tests hold both equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane

from rushes.instruments.clip.frames.chroma_sums import ChromaEdges
from rushes.instruments.clip.frames.luma_sums import BlockEdges, room_bytes
from rushes.native import c_function


class Planes(NamedTuple):
    """Where the three planes of a frame lie, and how many bytes apart their lines are."""

    luma: int
    luma_line: int
    blue: int
    red: int
    chroma_line: int


def planes_of(video: VideoFrame) -> Planes | None:
    """Of a frame of 8-bit planar YUV; None where lines go upwards, or the chroma planes differ."""
    luma, blue, red = VideoPlane(video, 0), VideoPlane(video, 1), VideoPlane(video, 2)
    line, chroma_line = luma.line_size, blue.line_size
    if line < 0 or chroma_line < 0 or red.line_size != chroma_line:
        return None
    return Planes(luma.buffer_ptr, line, blue.buffer_ptr, red.buffer_ptr, chroma_line)


class FrameKernel:
    """Sums frames of one size and layout."""

    def __init__(self, shape: tuple[int, int], edges: BlockEdges, chroma: ChromaEdges, chroma_width: int) -> None:
        blocks = len(edges.rows) - 1, len(edges.columns) - 1
        self._plan = np.concatenate([[*shape, *blocks, chroma.every], *edges, *chroma.edges]).astype(np.int64)
        self._room = np.empty(24 * blocks[0] * blocks[1] + room_bytes(max(shape[1], chroma_width)), np.uint8)
        self._fixed = self._plan.ctypes.data, self._room.ctypes.data
        pointers = "uint8* int64 uint8* uint8* int64 uint8* int64 int64* void* float32* int64* float32*"
        self._call = c_function("frame_sums", pointers)

    def __call__(self, now: Planes, before: Planes, means: int, sums: int, texture: int) -> None:
        """Write each at its address: means of light, change, blue and red (4 × rows × columns, 32-bit floats), Σ Y,
        Σ |Y − Y_before|, Σ L and Σ L² (64-bit integers), and the means of texture unless its address is 0."""
        self._call(*now, before.luma, before.luma_line, *self._fixed, means, sums, texture)
