"""Poses in arrays: checked shapes, and the fixed pieces they are worked through in.

`CHUNK_FRAMES` is a constant, not a setting: float sums depend on how they are grouped, so every reader, whatever its
memory, works through the same pieces in the same order and gets the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.errors import InputError
from rushes.pose.geometry import Flags, Floats, visible_joints

CHUNK_FRAMES = 8192
Numbers: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class PoseBatch:
    """Paired poses: `pred` and `gt` are frames × joints × 2 or 3, `visibility` is the ground truth's, frames × joints.

    Without a visibility, every true joint with a finite place is visible. Arrays may be memory-mapped and of any real
    type; each piece becomes fp64 when it is used.
    """

    pred: Numbers
    gt: Numbers
    visibility: Numbers | None

    def __post_init__(self) -> None:
        for name, points in (("pred", self.pred), ("gt", self.gt)):
            if points.ndim != 3 or points.shape[2] not in (2, 3):
                raise InputError(f"{name}: expected frames × joints × 2 or 3 coordinates; got shape {points.shape}")
        if self.pred.shape[:2] != self.gt.shape[:2]:
            raise InputError(
                f"pred has {self.pred.shape[0]} frames × {self.pred.shape[1]} joints, "
                f"gt {self.gt.shape[0]} × {self.gt.shape[1]}; they must be paired one to one"
            )
        if self.visibility is not None and self.visibility.shape != self.gt.shape[:2]:
            raise InputError(
                f"visibility: expected frames × joints {self.gt.shape[:2]}; got shape {self.visibility.shape}"
            )

    def __len__(self) -> int:
        return int(self.gt.shape[0])

    @property
    def joints(self) -> int:
        return int(self.gt.shape[1])

    @property
    def columns(self) -> int:
        """Coordinates both sides have: 2 or 3."""
        return int(min(self.pred.shape[2], self.gt.shape[2]))

    def chunks(self, *, overlap: int = 0) -> Iterator[Chunk]:
        """The fixed pieces, in order, each led by up to `overlap` frames of the one before (for differences)."""
        for start in range(0, len(self), CHUNK_FRAMES):
            lead = min(overlap, start)
            piece = slice(start - lead, start + CHUNK_FRAMES)
            gt = _fp64(self.gt[piece])
            yield Chunk(_fp64(self.pred[piece]), gt, self._visible(gt, piece), start, lead)

    def _visible(self, gt: Floats, piece: slice) -> Flags:
        if self.visibility is None:
            return np.asarray(np.isfinite(gt).all(axis=2))
        return visible_joints(self.visibility[piece])


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a batch in fp64; `lead` frames at its front were already counted in the piece before."""

    pred: Floats
    gt: Floats
    visible: Flags
    start: int
    lead: int

    @property
    def columns(self) -> int:
        return int(min(self.pred.shape[2], self.gt.shape[2]))


def single_pose(pred: ArrayLike, gt: ArrayLike, vis: ArrayLike) -> PoseBatch:
    """One frame as a batch of one; the shapes are joints × columns and joints."""
    try:
        arrays = [np.asarray(part, dtype=np.float64) for part in (pred, gt, vis)]
    except (TypeError, ValueError) as error:
        raise InputError(f"a pose holds numbers, joints × 2 or 3; {error}") from None
    return PoseBatch(*(array[np.newaxis] for array in arrays))


def _fp64(points: Numbers) -> Floats:
    return np.asarray(points, dtype=np.float64)
