"""Sums over planes, written for reading: what the loops in C are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.instruments.clip.frames.luma_sums import BlockEdges, FrameSums, LumaSums, Plane


def reference_sums(plane: Plane, previous: Plane | None, edges: BlockEdges, textured: bool) -> FrameSums:
    """The same as `frame_sums`."""
    wide = plane.astype(np.int64)
    change = np.zeros_like(wide) if previous is None else np.abs(wide - previous.astype(np.int64))
    texture = np.abs(np.diff(wide, axis=1, append=wide[:, -1:])) * textured
    blocks = np.array([_reference_blocks(values, edges) for values in (wide, change, texture)])
    if min(plane.shape) < 2:
        return with_blocks(blocks, 0, 0)
    p = np.pad(wide, 1, mode="reflect")
    laplacian = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * wide
    return with_blocks(blocks, int(laplacian.sum()), int((laplacian**2).sum()))


def _reference_blocks(values: NDArray[np.int64], edges: BlockEdges) -> NDArray[np.int64]:
    rows = np.add.reduceat(values, edges.rows[:-1], axis=0)
    return np.asarray(np.add.reduceat(rows, edges.columns[:-1], axis=1))


def with_blocks(blocks: NDArray[np.int64], laplacian: int, squared: int) -> FrameSums:
    return FrameSums(LumaSums(int(blocks[0].sum()), int(blocks[1].sum()), laplacian, squared), blocks)


def chroma_reference(blue: Any, red: Any, edges: BlockEdges, every: int) -> NDArray[np.int64]:
    """The same as `chroma_sums`."""
    rows = np.add.reduceat(np.stack([blue, red])[:, ::every].astype(np.int64), edges.rows[:-1], axis=1)
    return np.asarray(np.add.reduceat(rows, edges.columns[:-1], axis=2))
