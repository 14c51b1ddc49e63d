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
from numpy.typing import NDArray

from rushes.instruments.clip.frames.chroma_sums import chroma_edges, chroma_of, chroma_sums
from rushes.instruments.clip.frames.luma_sums import BlockEdges, FrameSums, Plane, frame_sums
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
    """Makes the grid of each frame as it is decoded."""

    def __init__(self) -> None:
        self._chunks: list[Blocks] = []
        """Means as coded, `_CHUNK` frames each: light, change, blue, red."""
        self._textures: list[NDArray[np.float32]] = []
        self._frames = 0
        self._textured: list[int] = []
        self._sampled = -math.inf
        self._chroma = (1.0, 128.0)

    def add(self, frame: Frame | AlikeFrame, before: Plane | None) -> FrameSums:
        """The next frame, with the luma of the one before; its sums, for whoever needs more of them."""
        plane = frame.luma.values
        edges, sizes = _blocks(plane.shape)
        textured = frame.time_ms >= self._sampled + TEXTURE_MS
        sums = frame_sums(plane, before, edges, textured)
        if textured:
            self._sampled = frame.time_ms
            self._textured.append(self._frames)
            self._textures.append((sums.blocks[2] / sizes).astype(np.float32))
        place = self._frames % _CHUNK
        if not place:
            self._chunks.append(np.empty((_CHUNK, 4, *sizes.shape), np.float32))
        means = self._chunks[-1][place]
        np.divide(sums.blocks[:2], sizes, out=means[:2], casting="unsafe")
        self._colours(frame, means[2:])
        self._frames += 1
        return sums

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

    def grid(self, *, luma: tuple[float, float], turn: tuple[int, bool]) -> PictureGrid | None:
        """What was seen, None of nothing; `luma` is its scale and offset, `turn` what makes the picture upright."""
        if not self._frames:
            return None

        def levels(values: NDArray[np.float32], scale: float, offset: float) -> Blocks:
            turned = np.moveaxis(upright(np.moveaxis(values, 0, -1), *turn), -1, 0)  # type: ignore[arg-type]
            return np.ascontiguousarray((turned - np.float32(offset)) * np.float32(scale))

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
