"""Every frame as a small grid of blocks: light, colour, change and texture, kept for the whole clip.

One grid serves every metric that asks where and when: drifts and steps of colour, pumping light, frozen or smeared
parts, pops, bars, loops. A grid has 16 blocks along the shorter side of the picture and as many along the longer one as
make them square. Its values are means of exact sums (`luma_sums`, `chroma_sums`), the same on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from rushes.instruments.clip.frames.chroma_sums import chroma_edges, chroma_of, chroma_sums, plain_layout
from rushes.instruments.clip.frames.frame_kernel import FrameKernel, Planes, planes_of
from rushes.instruments.clip.frames.luma_sums import BlockEdges, frame_sums
from rushes.media import Frame
from rushes.media.alike.frames import AlikeFrame
from rushes.media.frames import upright

SHORTER, LONGEST = 16, 48
"""Blocks along the shorter side, and at most so many along the longer one; a block has at least 2 pixels a side."""
TEXTURE_MS = 120.0
"""Time from one frame whose texture is taken to the next, at least."""

_CHUNK = 64

Blocks = NDArray[np.float32]
"""frames × rows × columns."""


@dataclass(frozen=True, eq=False)
class PictureGrid:
    """The blocks of a clip, upright, in presentation order: arrays of frames × rows × columns."""

    luma: Blocks
    """Mean luma of each block on 0–255."""
    step: Blocks
    """Mean |Y_t − Y_{t−1}| of each block on 0–255; 0 for the first frame."""
    blue: Blocks
    """Mean blue difference (Cb) of each block, full range, 0 for grey; 0 throughout where a clip has no colour."""
    red: Blocks
    """The same of the red difference (Cr)."""
    texture: Blocks
    """Mean |Y − its right neighbour| of each block on 0–255, of the frames in `textured` alone."""
    textured: NDArray[np.int64]
    """Frames whose texture was taken: the first, and then one every `TEXTURE_MS` or more."""

    def __len__(self) -> int:
        return len(self.luma)


class GridWalk:
    """Makes the grid of each frame as it is decoded, and the sums over its whole plane."""

    def __init__(self) -> None:
        self._chunks: list[Blocks] = []
        """Means as coded, `_CHUNK` frames each: light, change, blue, red."""
        self._sums: list[NDArray[np.int64]] = []
        """What `LumaSums` has of each frame, in chunks of as many."""
        self._addresses = 0, 0
        """Where the last chunk of both begins."""
        self._textures: list[NDArray[np.float32]] = []
        self._frames = 0
        self._textured: list[int] = []
        self._sampled = -math.inf
        self._chroma = (1.0, 128.0)
        self._last: tuple[_Layout | None, Planes | None] = None, None
        """How the frame before is laid out, and where its planes lie: it is kept by whoever calls."""
        self.is_alike = False
        """Whether the last frame is of the same size, format and range as the one before, as far as was looked at."""

    def add(self, frame: Frame | AlikeFrame, before: Frame | AlikeFrame | None) -> tuple[int, int]:
        """The next frame, and the one before; its Σ |Y − Y_before| and Σ L² (`LumaSums`), as coded.

        Of a frame in an ordinary format, after one in the same, one call has all sums.
        """
        layout, then = self._last
        now = None
        if isinstance(frame, Frame):
            video = frame.video
            if layout is None or not layout.holds(video):
                layout, then = _layout_of(video), None
            now = None if layout is None else planes_of(video)
        place = self._frames % _CHUNK
        self.is_alike = then is not None
        if layout is None or now is None or then is None and before is not None:
            self._sum(frame, before, place)
        else:
            self._sum_at_once(layout, now, now if then is None else then, place, frame.time_ms)
        self._last = layout, now
        self._frames += 1
        sums = self._sums[-1]
        return sums.item(place, 1), sums.item(place, 3)

    def _begin(self, blocks: tuple[int, ...]) -> None:
        """Room for the next frames."""
        self._chunks.append(np.empty((_CHUNK, 4, *blocks), np.float32))
        self._sums.append(np.empty((_CHUNK, 4), np.int64))
        self._addresses = self._chunks[-1].ctypes.data, self._sums[-1].ctypes.data

    def _is_textured(self, time_ms: float) -> bool:
        if time_ms < self._sampled + TEXTURE_MS:
            return False
        self._sampled = time_ms
        self._textured.append(self._frames)
        return True

    def _sum_at_once(self, layout: _Layout, now: Planes, before: Planes, place: int, time_ms: float) -> None:
        if not place:
            self._begin(layout.blocks)
        texture = 0
        if self._is_textured(time_ms):
            self._textures.append(np.empty(layout.blocks, np.float32))
            texture = self._textures[-1].ctypes.data
        self._chroma = layout.chroma
        means, sums = self._addresses
        layout.kernel(now, before, means + place * layout.bytes, sums + place * 32, texture)

    def _sum(self, frame: Frame | AlikeFrame, before: Frame | AlikeFrame | None, place: int) -> None:
        """The same, step by step and in any format."""
        plane = frame.luma.values
        edges, sizes = _blocks(plane.shape)
        textured = self._is_textured(frame.time_ms)
        sums = frame_sums(plane, None if before is None else before.luma.values, edges, textured)
        if textured:
            self._textures.append((sums.blocks[2] / sizes).astype(np.float32))
        if not place:
            self._begin(sizes.shape)
        means = self._chunks[-1][place]
        np.divide(sums.blocks[:2], sizes, out=means[:2], casting="unsafe")
        self._sums[-1][place] = sums.whole
        self._colours(frame, means[2:])

    def _colours(self, frame: Frame | AlikeFrame, means: Blocks) -> None:
        """Blue and red of each block, as coded."""
        chroma = chroma_of(frame)
        if chroma is None:
            means[:] = self._chroma[1]
            return
        self._chroma = chroma.scale, chroma.middle
        cut = chroma_edges(chroma.blue.shape, means.shape[1:])
        if cut is None:  # fewer pixels than blocks: each block has its nearest
            sides = zip(means.shape[1:], chroma.blue.shape, strict=True)
            nearest = np.ix_(*(np.arange(blocks) * length // blocks for blocks, length in sides))
            means[0], means[1] = chroma.blue[nearest], chroma.red[nearest]
            return
        sums = chroma_sums(chroma.blue, chroma.red, cut.edges, cut.every)
        np.divide(sums, cut.sizes, out=means, casting="unsafe")

    @property
    def sums(self) -> NDArray[np.int64]:
        """Σ Y, Σ |Y − Y_before|, Σ L and Σ L² of every frame: frames × 4."""
        return np.concatenate(self._sums)[: self._frames] if self._sums else np.zeros((0, 4), np.int64)

    def grid(self, *, luma: tuple[float, float], turn: tuple[int, bool]) -> PictureGrid | None:
        """What was seen, None of nothing; `luma` is its scale and offset, `turn` what makes the picture upright."""
        if not self._frames:
            return None

        def levels(values: NDArray[np.float32], scale: float, offset: float) -> Blocks:
            found = (values - np.float32(offset)) * np.float32(scale)
            if turn == (0, False):
                return found
            turned = upright(np.moveaxis(found, 0, -1), *turn)  # type: ignore[arg-type]
            return np.ascontiguousarray(np.moveaxis(turned, -1, 0))

        def plane(index: int) -> NDArray[np.float32]:
            return np.concatenate([chunk[:, index] for chunk in self._chunks])[: self._frames]

        return PictureGrid(
            luma=levels(plane(0), *luma),
            step=levels(plane(1), luma[0], 0.0),
            blue=levels(plane(2), *self._chroma),
            red=levels(plane(3), *self._chroma),
            texture=levels(np.stack(self._textures), luma[0], 0.0),
            textured=np.array(self._textured),
        )


class _Layout:
    """What is the same for all frames of a clip in an ordinary format."""

    def __init__(self, video: VideoFrame, blocks: tuple[int, int], kernel: FrameKernel, scale: float) -> None:
        self._name, self._range = video.format.name, video.color_range
        self._size = video.width, video.height
        self.blocks, self.kernel, self.chroma = blocks, kernel, (scale, 128.0)
        self.bytes = 4 * 4 * blocks[0] * blocks[1]
        """From the means of one frame to those of the next."""

    def holds(self, video: VideoFrame) -> bool:
        alike = video.format.name == self._name and video.color_range == self._range
        return alike and self._size == (video.width, video.height)


def _layout_of(video: VideoFrame) -> _Layout | None:
    """None for a format, or a size, that the one call is not for."""
    height, width, scale = plain_layout(video.format.name, video.width, video.height, int(video.color_range))
    if not height:
        return None
    edges, sizes = _blocks((video.height, video.width))
    chroma = chroma_edges((height, width), sizes.shape)
    if chroma is None:
        return None
    return _Layout(video, sizes.shape, FrameKernel((video.height, video.width), edges, chroma, width), scale)


def grid_shape(plane: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of blocks of a plane.

    >>> grid_shape((512, 512)), grid_shape((720, 1280)), grid_shape((1920, 1080)), grid_shape((8, 30))
    ((16, 16), (16, 28), (28, 16), (4, 15))
    """
    shorter = min(plane)
    blocks = max(1, min(SHORTER, shorter // 2))
    rows, columns = (min(LONGEST, max(1, round(blocks * side / shorter))) for side in plane)
    return rows, columns


@lru_cache(maxsize=16)
def _blocks(plane: tuple[int, int]) -> tuple[BlockEdges, NDArray[np.int64]]:
    """Where the blocks of a plane begin, and how many pixels each has."""
    edges = BlockEdges.of(plane, grid_shape(plane))
    return edges, np.outer(np.diff(edges.rows), np.diff(edges.columns))
