"""Exact sums of both chroma planes over the blocks of a grid.

Colour changes slowly from row to row: of a plane of many rows every second or fourth is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from av.video.format import VideoFormat
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from numpy.typing import NDArray

from rushes.instruments.clip.frames.luma_sums import BlockEdges
from rushes.media import Frame
from rushes.media.alike.frames import AlikeFrame
from rushes.media.luma import color_range_of
from rushes.media.planes import coded_planes
from rushes.native import c_function, in_rows

_READ = 4
"""Rows of a block that are read at least, where it has as many."""


class Chroma(NamedTuple):
    """Both chroma planes of a frame, and what makes levels of their values: (value − middle) · scale, 0 for grey."""

    blue: Any
    red: Any
    scale: float
    middle: float


def chroma_of(frame: Frame | AlikeFrame) -> Chroma | None:
    """The colour of a frame as coded; RGB, packed and palette formats in full range by BT.601. None of a grey frame."""
    if not isinstance(frame, Frame):
        return _of_rgb(frame.rgb())
    video = frame.video
    height, width, scale = plain_layout(video.format.name, video.width, video.height, int(video.color_range))
    if height:
        return Chroma(_view(video, 1, height, width), _view(video, 2, height, width), scale, 128.0)
    coded = coded_planes(video)
    if coded is None:
        return _of_rgb(cast("NDArray[np.uint8]", video.to_ndarray(format="rgb24")))
    if len(coded.values) == 1:
        return None
    steps = 1 << (coded.bits - 8)
    span = 224 * steps if coded.range == "limited" else coded.peak
    return Chroma(coded.values[1], coded.values[2], 255 / span, 128.0 * steps)


def _of_rgb(picture: NDArray[np.uint8]) -> Chroma:
    crcb = cv2.cvtColor(picture, cv2.COLOR_RGB2YCrCb)
    return Chroma(np.ascontiguousarray(crcb[..., 2]), np.ascontiguousarray(crcb[..., 1]), 1.0, 128.0)


@lru_cache(maxsize=64)
def plain_layout(name: str, width: int, height: int, tag: int) -> tuple[int, int, float]:
    """Rows, columns and scale of the chroma planes of ordinary 8-bit formats, which need none of `coded_planes`' care.

    Others have 0 rows here.
    """
    if name not in ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p"):
        return 0, 0, 1.0
    part = VideoFormat(name, width, height).components[1]
    return part.height, part.width, 255 / 224 if color_range_of(name, tag) == "limited" else 1.0


def _view(video: VideoFrame, index: int, height: int, width: int) -> Any:
    plane: Any = VideoPlane(video, index)  # a buffer, which its stub does not say
    line = plane.line_size
    return np.ndarray((height, width), np.uint8, plane, 0 if line >= 0 else -line * (height - 1), (line, 1))


class ChromaEdges(NamedTuple):
    """Where blocks begin, in rows that are read; how many values each holds; and which rows are read."""

    edges: BlockEdges
    sizes: NDArray[np.int64]
    every: int


@lru_cache(maxsize=16)
def chroma_edges(plane: tuple[int, int], grid: tuple[int, int]) -> ChromaEdges | None:
    """A chroma plane in so many rows and columns of blocks; None where it has fewer pixels than those."""
    if plane[0] < grid[0] or plane[1] < grid[1]:
        return None
    every = next(step for step in (4, 2, 1) if step == 1 or plane[0] >= step * _READ * grid[0])
    edges = BlockEdges.of(((plane[0] + every - 1) // every, plane[1]), grid)
    return ChromaEdges(edges, np.outer(np.diff(edges.rows), np.diff(edges.columns)), every)


def chroma_sums(blue: Any, red: Any, edges: BlockEdges, every: int) -> NDArray[np.int64]:
    """Σ of every so many rows over each block: 2 × rows × columns."""
    rows, columns = (np.ascontiguousarray(side) for side in edges)
    blocks = np.zeros((2, len(rows) - 1, len(columns) - 1), np.int64)
    room = np.empty(blue.shape[1], np.uint32)
    cut = rows.ctypes.data, len(rows) - 1, columns.ctypes.data, len(columns) - 1, room.ctypes.data
    for one, found in zip((blue, red), blocks, strict=True):
        plane, line = in_rows(one[::every])
        call = c_function(f"block_sums_{8 * plane.itemsize}", "void* int64 int64* int64 int64* int64 void* int64*")
        call(plane.ctypes.data, line, *cut, found.ctypes.data)
    return blocks
