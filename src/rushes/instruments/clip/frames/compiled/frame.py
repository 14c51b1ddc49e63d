"""All sums of one frame in one compiled call: light, change, texture and colour of blocks, and those of `LumaSums`.

The call is given addresses and writes means where they are kept, because between two frames the decoder has emptied the
processor's caches: making a dozen arrays, and taking them apart again, costs as much as the sums. For 8-bit planes of
ordinary width alone; `luma_sums` and `chroma_sums` have the same for all others, and tests hold both equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane

from rushes.instruments.clip.frames.chroma_sums import ChromaEdges
from rushes.instruments.clip.frames.luma_sums import BlockEdges
from rushes.media.numba_cache import c_function

WIDEST = 4096
_LINES = 256
"""Rows whose 8-bit values add up to less than 2¹⁶."""
_HEAD = 7


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
        rows, columns = len(edges.rows) - 1, len(edges.columns) - 1
        head = [*shape, rows, columns, chroma_width, chroma.every, 0]
        self._plan = np.concatenate([head, *edges, *chroma.edges]).astype(np.int64)
        self._lines = np.zeros(3 * max(shape[1], chroma_width), np.uint16)
        self._fixed = self._plan.ctypes.data, self._lines.ctypes.data
        self._call = _frame_sums()

    def __call__(self, now: Planes, before: Planes, means: int, sums: int, texture: int) -> None:
        """Write each at its address: means of light, change, blue and red (4 × rows × columns, 32-bit floats), Σ Y,
        Σ |Y − Y_before|, Σ L and Σ L² (64-bit integers), and the means of texture unless its address is 0."""
        self._call(*now, before.luma, before.luma_line, *self._fixed, means, sums, texture or means, texture != 0)


carray: Any = None
"""numba's, once it is loaded."""


def _sum_frame(
    luma: Any,
    luma_line: Any,
    blue: Any,
    red: Any,
    chroma_line: Any,
    before: Any,
    before_line: Any,
    plan: Any,
    lines: Any,
    means: Any,
    sums: Any,
    texture: Any,
    textured: Any,
) -> None:
    """As `luma_sums._narrow_sums` and `chroma_sums._narrow_sums`, which say why the lanes are wide enough."""
    head = carray(plan, (_HEAD,))
    h, w, n, m, cw, every = head[0], head[1], head[2], head[3], head[4], head[5]
    edges = carray(plan, (_HEAD + 2 * (n + m + 2),))
    columns, chroma_rows, chroma_columns = _HEAD + n + 1, _HEAD + n + m + 2, _HEAD + 2 * n + m + 3
    y, p = carray(luma, (h, luma_line)), carray(before, (h, before_line))
    out, pattern, found = carray(means, (4, n, m)), carray(texture, (n, m)), carray(sums, (4,))
    scratch = carray(lines, (3, max(w, cw)))
    light, change, across = scratch[0], scratch[1], scratch[2]
    total = np.int64(0)
    difference = np.int64(0)
    laplacian = np.int64(0)
    squared = np.int64(0)
    block = np.zeros((3, m), np.int64)
    for b in range(n):
        first, last = edges[_HEAD + b], edges[_HEAD + b + 1]
        block[:] = 0
        for start in range(first, last, _LINES):
            light[:] = 0
            change[:] = 0
            across[:] = 0
            for i in range(start, min(start + _LINES, last)):
                here, then = y[i], p[i]
                up, down = y[i - 1 if i > 0 else 1], y[i + 1 if i < h - 1 else h - 2]
                for j in range(w):
                    light[j] = np.uint16(light[j] + np.uint16(here[j]))
                    change[j] = np.uint16(change[j] + np.uint16(abs(np.int16(np.int16(here[j]) - np.int16(then[j])))))
                if textured:
                    for j in range(w - 1):
                        step = np.int16(np.int16(here[j + 1]) - np.int16(here[j]))
                        across[j] = np.uint16(across[j] + np.uint16(abs(step)))
                # Second differences telescope, so Σ L needs only the outermost two lines of each side.
                weight = (1 if i == 1 else 0) - (1 if i == 0 else 0) + (1 if i == h - 2 else 0)
                weight -= 1 if i == h - 1 else 0
                if weight != 0:
                    row_total = np.uint32(0)
                    for j in range(w):
                        row_total = np.uint32(row_total + np.uint32(here[j]))
                    laplacian += weight * np.int64(row_total)
                laplacian += np.int64(here[1]) - np.int64(here[0]) + np.int64(here[w - 2]) - np.int64(here[w - 1])
                row_squared = np.uint32(0)
                for j in range(1, w - 1):
                    value = np.int16(
                        np.int16(up[j])
                        + np.int16(down[j])
                        + np.int16(here[j - 1])
                        + np.int16(here[j + 1])
                        - np.int16(4) * np.int16(here[j])
                    )
                    row_squared = np.uint32(row_squared + np.uint32(np.int32(value) * np.int32(value)))
                squared += row_squared
                left = np.int64(up[0]) + np.int64(down[0]) + 2 * np.int64(here[1]) - 4 * np.int64(here[0])
                right = np.int64(up[w - 1]) + np.int64(down[w - 1])
                right += 2 * np.int64(here[w - 2]) - 4 * np.int64(here[w - 1])
                squared += left * left + right * right
            for c in range(m):
                lights, changes, steps = np.uint32(0), np.uint32(0), np.uint32(0)
                # An index without a sign needs no look at whether it counts from the end.
                begin, end = np.uint64(edges[columns + c]), np.uint64(edges[columns + c + 1])
                for j in range(begin, end):
                    lights = np.uint32(lights + light[j])
                for j in range(begin, end):
                    changes = np.uint32(changes + change[j])
                if textured:
                    for j in range(begin, end):
                        steps = np.uint32(steps + across[j])
                block[0, c] += lights
                block[1, c] += changes
                block[2, c] += steps
        for c in range(m):
            size = np.float64((last - first) * (edges[columns + c + 1] - edges[columns + c]))
            out[0, b, c] = np.float32(block[0, c] / size)
            out[1, b, c] = np.float32(block[1, c] / size)
            if textured:
                pattern[b, c] = np.float32(block[2, c] / size)
            total += block[0, c]
            difference += block[1, c]
    found[0], found[1], found[2], found[3] = total, difference, laplacian, squared
    for b in range(n):
        first, last = edges[chroma_rows + b], edges[chroma_rows + b + 1]
        block[:] = 0
        for start in range(first, last, _LINES):
            light[:] = 0
            change[:] = 0
            for i in range(start, min(start + _LINES, last)):
                u, v = carray(blue, ((i + 1) * every, chroma_line)), carray(red, ((i + 1) * every, chroma_line))
                bluer, redder = u[i * every], v[i * every]
                for j in range(cw):
                    light[j] = np.uint16(light[j] + np.uint16(bluer[j]))
                    change[j] = np.uint16(change[j] + np.uint16(redder[j]))
            for c in range(m):
                blues, reds = np.uint32(0), np.uint32(0)
                begin, end = np.uint64(edges[chroma_columns + c]), np.uint64(edges[chroma_columns + c + 1])
                for j in range(begin, end):
                    blues = np.uint32(blues + light[j])
                for j in range(begin, end):
                    reds = np.uint32(reds + change[j])
                block[0, c] += blues
                block[1, c] += reds
        for c in range(m):
            size = np.float64((last - first) * (edges[chroma_columns + c + 1] - edges[chroma_columns + c]))
            out[2, b, c] = np.float32(block[0, c] / size)
            out[3, b, c] = np.float32(block[1, c] / size)


load = _frame_sums = c_function(
    _sum_frame,
    "uint8* int64 uint8* uint8* int64 uint8* int64 int64* uint16* float32* int64* float32* int64",
)
