"""Poses in arrays: those of one file, those of a pair, and the fixed pieces a pair is worked through in.

`CHUNK_FRAMES` is a constant, not a setting: float sums depend on how they are grouped, so every reader, whatever its
memory, works through the same pieces in the same order and gets the same bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core.errors import InputError
from rushes.instruments.pose.files.coco_people import CocoPeople
from rushes.instruments.pose.scores.geometry import Flags, Floats, seen_joints

CHUNK_FRAMES = 8192
Numbers: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseSet:
    """Poses of one file, one per frame or image."""

    path: str
    points: Numbers
    """frames × joints × 2 or 3; memory-mapped where the file allows it."""
    visibility: Numbers | None = None
    ids: tuple[Hashable, ...] | None = None
    areas: Floats | None = None
    scores: Floats | None = None
    """How sure the model is of each pose, where the file says so."""
    tracks: tuple[Hashable, ...] | None = None
    """Who is who from image to image, where the file says so."""
    people: CocoPeople | None = None
    """Everybody in a COCO file, crowds too, for AP and AR."""
    skeleton: str | None = None
    """A named skeleton, where the file says which."""
    joint_names: tuple[str, ...] | None = None
    picked_from: str | None = None
    """The larger skeleton that these joints were picked out of by name."""
    sequence: bool = True
    """Whether neighbours are consecutive frames, so that velocities mean something."""
    size: tuple[int, int] | None = None
    """Width and height of the picture, where the file says so."""
    unit: str | None = None
    """The unit of the coordinates, where the format fixes it."""
    fps: float | None = None
    """Frames a second, where the file has times."""
    time_ms: Floats | None = None
    """When each frame is shown, where the file says so."""
    estimator: str | None = None
    """Digest of the models that found these joints, where a clip was read."""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_shape(self.path, self.points)
        if self.points.dtype.kind not in "fiu":
            raise InputError(f"{self.path}: expected real numbers; got an array of {self.points.dtype}")
        if not self.points.shape[0] or not self.points.shape[1]:
            raise InputError(f"{self.path}: has no poses (shape {self.points.shape}); nothing can be scored")
        if self.visibility is not None and self.visibility.shape != self.points.shape[:2]:
            raise InputError(
                f"{self.path}: visibility has shape {self.visibility.shape}; "
                f"expected frames × joints {self.points.shape[:2]}"
            )

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def joints(self) -> int:
        return int(self.points.shape[1])

    @property
    def consecutive(self) -> bool:
        """Whether each pose is the next frame after the one before: by order, or by whole-number ids without gaps."""
        if not self.sequence or self.ids is None:
            return self.sequence
        whole = [key for key in self.ids if isinstance(key, int)]
        return len(whole) == len(self.ids) and all(b == a + 1 for a, b in zip(whole, whole[1:], strict=False))

    def frame_name(self, number: int) -> str:
        """How to point a user at one frame: its image id where there is one, else its number."""
        return f"image {self.ids[number]}" if self.ids is not None else f"frame {number}"


def _check_shape(name: str, points: Numbers) -> None:
    if points.ndim != 3 or points.shape[2] not in (2, 3):
        raise InputError(f"{name}: expected frames × joints × 2 or 3 coordinates; got shape {points.shape}")


def frame_rate(time_ms: Floats) -> float | None:
    """Frames a second from presentation times; None for fewer than two frames.

    >>> import numpy as np
    >>> frame_rate(np.array([0.0, 40.0, 80.0]))
    25.0
    """
    span = float(time_ms[-1] - time_ms[0]) if len(time_ms) > 1 else 0.0
    return (len(time_ms) - 1) * 1000.0 / span if span > 0 else None


@dataclass(frozen=True, slots=True)
class PoseBatch:
    """Paired poses: `pred` and `gt` are frames × joints × 2 or 3, `visibility` is the ground truth's, frames × joints.

    Without a visibility, every true joint with a finite place is visible. With the prediction's own `confidence`, a
    joint written as all zeros with confidence 0 was not found (as OpenPose and COCO results write it): it becomes NaN.
    Arrays may be memory-mapped and of any real type; each piece becomes fp64 when it is used.
    """

    pred: Numbers
    gt: Numbers
    visibility: Numbers | None
    confidence: Numbers | None = None

    def __post_init__(self) -> None:
        for name, points in (("pred", self.pred), ("gt", self.gt)):
            _check_shape(name, points)
        if self.pred.shape[:2] != self.gt.shape[:2]:
            raise InputError(
                f"pred has {self.pred.shape[0]} frames × {self.pred.shape[1]} joints, "
                f"gt {self.gt.shape[0]} × {self.gt.shape[1]}; they must be paired one to one"
            )
        for name, flags in (("visibility", self.visibility), ("confidence", self.confidence)):
            if flags is not None and flags.shape != self.gt.shape[:2]:
                raise InputError(f"{name}: expected frames × joints {self.gt.shape[:2]}; got shape {flags.shape}")

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
            gt = np.asarray(self.gt[piece], dtype=np.float64)
            pred, blank = self._predicted(piece)
            visible = seen_joints(gt, None if self.visibility is None else self.visibility[piece])
            yield Chunk(pred, gt, visible, start, lead, blank)

    def _predicted(self, piece: slice) -> tuple[Floats, Flags | None]:
        """The predictions, and which of them were written as zeros because nothing was found."""
        pred = np.asarray(self.pred[piece], dtype=np.float64)
        if self.confidence is None:
            return pred, None
        blank = np.asarray(self.confidence[piece]) == 0
        for column in range(pred.shape[2]):
            blank &= pred[..., column] == 0
        if blank.any():
            pred = pred.copy()  # the caller's own array, maybe
            pred[blank] = np.nan
        return pred, blank


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a batch in fp64; `lead` frames at its front were already counted in the piece before."""

    pred: Floats
    gt: Floats
    visible: Flags
    start: int
    lead: int
    blank: Flags | None = None
    """Predictions written as zeros with confidence 0; None where there is no confidence to tell by."""

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
