"""One pass over a batch: every count and sum behind PCK and MPJPE, piece by piece, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from rushes.pose.batch import Chunk, PoseBatch
from rushes.pose.geometry import joint_distances
from rushes.pose.mpjpe import ErrorSum, error_sum
from rushes.pose.normalization import PckNormalization
from rushes.pose.pck import CURVE_TOP, PckTally, pck_tally


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and sums of some frames. `a + b` is the tally of a's frames followed by b's."""

    frames: int
    errors: tuple[ErrorSum, ...]
    """Per joint."""
    pck: tuple[PckTally, ...]
    """Per normalisation, in the order they were asked for."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.frames + other.frames,
            tuple(map(add, self.errors, other.errors)),
            tuple(map(add, self.pck, other.pck)),
        )

    @property
    def error(self) -> ErrorSum:
        """Over all joints."""
        return sum(self.errors, ErrorSum())


def tally_batch(
    batch: PoseBatch,
    *,
    ks: Sequence[int],
    norms: Sequence[PckNormalization],
    dims: int | None = None,
    curve: bool = False,
) -> Tally:
    """Count the whole batch in fixed pieces. `dims` is how many coordinates MPJPE uses: all both sides have."""
    columns = dims or batch.columns
    empty = _empty(batch.joints, len(ks), len(norms), curve=curve)
    return reduce(add, (_tally(c, ks=ks, norms=norms, dims=columns, curve=curve) for c in batch.chunks()), empty)


def _tally(chunk: Chunk, *, ks: Sequence[int], norms: Sequence[PckNormalization], dims: int, curve: bool) -> Tally:
    visible = np.ascontiguousarray(chunk.visible.T)
    flat = np.ascontiguousarray(joint_distances(chunk.pred, chunk.gt, columns=2).T)
    full = flat if dims == 2 else np.ascontiguousarray(joint_distances(chunk.pred, chunk.gt, columns=dims).T)
    errors = tuple(error_sum(row, seen) for row, seen in zip(full, visible, strict=True))
    pck = tuple(pck_tally(chunk, flat, visible, ks=ks, norm=norm, curve=curve) for norm in norms)
    return Tally(len(chunk.gt), errors, pck)


def _empty(joints: int, ks: int, norms: int, *, curve: bool) -> Tally:
    nothing = PckTally(
        np.zeros((ks, joints), dtype=np.int64),
        np.zeros(joints, dtype=np.int64),
        0,
        np.zeros(CURVE_TOP + 1 if curve else 0, dtype=np.int64),
    )
    return Tally(0, (ErrorSum(),) * joints, (nothing,) * norms)
