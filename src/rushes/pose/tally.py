"""One pass over a batch: every count and sum behind PCK and MPJPE, piece by piece, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np

from rushes.pose.batch import Chunk, PoseBatch
from rushes.pose.geometry import Floats, joint_distances
from rushes.pose.joint_errors import ErrorSum, error_sum
from rushes.pose.kernel import WORTH_COMPILING, count_frames
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
    batch: PoseBatch, *, ks: Sequence[int], norms: Sequence[PckNormalization], curve: bool = False
) -> Tally:
    """Count the whole batch in fixed pieces; MPJPE over every coordinate both sides have."""
    pieces = (tally_chunk(chunk, ks=ks, norms=norms, curve=curve) for chunk in batch.chunks())
    return reduce(add, pieces, empty_tally(batch.joints, len(ks), len(norms), curve=curve))


def tally_chunk(
    chunk: Chunk,
    *,
    ks: Sequence[int],
    norms: Sequence[PckNormalization],
    curve: bool = False,
    errors: Floats | None = None,
) -> Tally:
    """Count one piece. `errors` (frames × joints) replaces the plain joint distances in MPJPE."""
    if errors is None and not curve and len(chunk.gt) >= WORTH_COMPILING:
        counted = _tally_compiled(chunk, ks=ks, norms=norms)
        if counted is not None:
            return counted
    visible = np.ascontiguousarray(chunk.visible.T)
    flat = np.ascontiguousarray(joint_distances(chunk.pred, chunk.gt, columns=2).T)
    if errors is None:
        columns = chunk.columns
        errors = flat if columns == 2 else joint_distances(chunk.pred, chunk.gt, columns=columns).T
    else:
        errors = errors.T
    sums = tuple(error_sum(row, seen) for row, seen in zip(np.ascontiguousarray(errors), visible, strict=True))
    pck = tuple(pck_tally(chunk, flat, visible, ks=ks, norm=norm, curve=curve) for norm in norms)
    return Tally(len(chunk.gt), sums, pck)


def _tally_compiled(chunk: Chunk, *, ks: Sequence[int], norms: Sequence[PckNormalization]) -> Tally | None:
    """The same by the compiled loop; None where only numpy will do."""
    extents = [norm.extents(chunk.gt, chunk.visible) for norm in norms]
    tolerances = [norm.tolerances(extent, k) for norm, extent in zip(norms, extents, strict=True) for k in ks]
    scoreable = ~np.isnan(np.stack(extents, axis=1))
    counted = count_frames(
        chunk.pred,
        chunk.gt,
        chunk.visible,
        tolerances=np.stack(tolerances, axis=1) if tolerances else np.zeros((len(chunk.gt), 0)),
        scoreable=scoreable,
        columns=chunk.columns,
    )
    if counted is None:
        return None
    frames, nothing = np.count_nonzero(scoreable, axis=0).tolist(), np.zeros(0, dtype=np.int64)
    pck = tuple(
        PckTally(counted.correct[n * len(ks) : (n + 1) * len(ks)], counted.total[n], frames[n], nothing)
        for n in range(len(norms))
    )
    sums = zip(counted.errors.tolist(), counted.seen.tolist(), strict=True)
    return Tally(len(chunk.gt), tuple(ErrorSum(Fraction(total), number, 0) for total, number in sums), pck)


def empty_tally(joints: int, ks: int, norms: int, *, curve: bool) -> Tally:
    """The tally of no frames."""
    nothing = PckTally(
        np.zeros((ks, joints), dtype=np.int64),
        np.zeros(joints, dtype=np.int64),
        0,
        np.zeros(CURVE_TOP + 1 if curve else 0, dtype=np.int64),
    )
    return Tally(0, (ErrorSum(),) * joints, (nothing,) * norms)
