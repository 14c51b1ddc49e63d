"""The seed's result: `PoseFrame` in, `PoseAccuracy` out, and the counts and sums between the two.

A `PoseAccuracy` cannot be made without its normalisation, and nothing here turns one into a number without its label.
Counts and sums (`Tally`) are taken in one pass, piece by piece, and add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from rushes.core.errors import InputError
from rushes.instruments.pose.files.batch import Chunk, PoseBatch, single_pose
from rushes.instruments.pose.scores.geometry import Floats, joint_distances
from rushes.instruments.pose.scores.joint_errors import ErrorSum, error_sums
from rushes.instruments.pose.scores.normalization import PckNormalization, checked_norm
from rushes.instruments.pose.scores.pck import CURVE_TOP, PckTally, checked_ks, flat_errors, pck_tally


@dataclass(frozen=True, slots=True, eq=False)
class PoseFrame:
    """One frame: predicted and true joints (joints × 2 or 3) and the ground truth's visibility (joints)."""

    pred: Floats
    gt: Floats
    visibility: Floats

    def __init__(self, pred: ArrayLike, gt: ArrayLike, visibility: ArrayLike) -> None:
        batch = single_pose(pred, gt, visibility)
        assert batch.visibility is not None
        for name, array in (("pred", batch.pred), ("gt", batch.gt), ("visibility", batch.visibility)):
            object.__setattr__(self, name, array[0])


class ReadOnly(dict[int, float]):
    """A mapping that cannot be changed; `dataclasses.asdict`, `hash`, `pickle` and JSON take it."""

    __slots__ = ()

    def _refuse(self, *args: object, **more: object) -> NoReturn:
        raise TypeError("scored poses cannot be changed")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnly, (dict(self),)


@dataclass(frozen=True, slots=True)
class PoseAccuracy:
    """What the poses scored, with the normalisation they were scored under.

    `pck_at` maps k to PCK@k; `n_keypoints` is the joints of the first frame's ground truth.
    """

    pck_at: Mapping[int, float]
    mpjpe: float
    normalization: PckNormalization
    n_keypoints: int
    n_frames: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "normalization", checked_norm(self.normalization))
        object.__setattr__(self, "pck_at", ReadOnly(sorted(self.pck_at.items())))

    def summary(self) -> str:
        """One line that carries its definition: `PCK@20=0.500 (torso-diameter, 17 key points, 1 frame) MPJPE=0.04`."""
        pcks = " ".join(f"PCK@{k}={value:.3f}" for k, value in self.pck_at.items())
        frames = f"{self.n_frames} frame{'' if self.n_frames == 1 else 's'}"
        return f"{pcks} ({self.normalization.label()}, {self.n_keypoints} key points, {frames}) MPJPE={self.mpjpe:.4f}"


def accuracy_report(
    frames: Iterable[PoseFrame] | PoseBatch, ks: Sequence[float], norm: PckNormalization | type[PckNormalization]
) -> PoseAccuracy:
    """PCK at every k and MPJPE over all frames, under one declared normalisation.

    Formula     PCK@k = Σ correct / Σ visible, MPJPE = Σ error / Σ visible: pooled over frames (micro-average)
    Inputs      frames, or a `PoseBatch` of arrays, which is what a million frames want; ks as whole percentages
    Edge cases  no frames: PCK 0.0, MPJPE 0.0, 0 key points. An unscoreable frame adds (0, 0) to PCK.
    Reference   ADR-173

    >>> from rushes.instruments.pose import TorsoDiameter
    >>> accuracy_report([], [20], TorsoDiameter())
    PoseAccuracy(pck_at={20: 0.0}, mpjpe=0.0, normalization=TorsoDiameter(left_hip=11, right_hip=12), \
n_keypoints=0, n_frames=0)
    """
    batch = frames if isinstance(frames, PoseBatch) else stack_frames(frames)
    wanted, rule = checked_ks(ks), checked_norm(norm)
    return accuracy_of(tally_batch(batch, ks=wanted, norms=[rule]), wanted, rule)


def accuracy_of(tally: Tally, ks: Sequence[int], norm: PckNormalization, *, index: int = 0) -> PoseAccuracy:
    """The seed's shape from a tally; `index` says which of the tally's normalisations `norm` is."""
    return PoseAccuracy(
        pck_at=dict(zip(ks, tally.pck[index].ratios(), strict=True)),
        mpjpe=tally.error.mean(),
        normalization=norm,
        n_keypoints=len(tally.errors) if tally.frames else 0,
        n_frames=tally.frames,
    )


def stack_frames(frames: Iterable[PoseFrame]) -> PoseBatch:
    """Frames as one batch; `InputError` names the first frame that is not like frame 0."""
    listed = list(frames)
    for number, frame in enumerate(listed):
        if frame.gt.shape != listed[0].gt.shape or frame.pred.shape != listed[0].pred.shape:
            raise InputError(
                f"frame {number}: pred {frame.pred.shape} and gt {frame.gt.shape}; "
                f"frame 0 has {listed[0].pred.shape} and {listed[0].gt.shape}; all frames need the same joints"
            )
    if not listed:
        return PoseBatch(np.zeros((0, 0, 2)), np.zeros((0, 0, 2)), np.zeros((0, 0)))
    return PoseBatch(*(np.stack([getattr(f, name) for f in listed]) for name in ("pred", "gt", "visibility")))


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
    visible = np.ascontiguousarray(chunk.visible.T)
    flat = flat_errors(chunk)
    if errors is None:
        columns = chunk.columns
        errors = flat.distances if columns == 2 else joint_distances(chunk.pred, chunk.gt, columns=columns).T
    else:
        errors = errors.T
    sums = error_sums(np.ascontiguousarray(errors), visible)
    pck = tuple(pck_tally(chunk, flat, visible, ks=ks, norm=norm, curve=curve) for norm in norms)
    return Tally(len(chunk.gt), sums, pck)


def empty_tally(joints: int, ks: int, norms: int, *, curve: bool) -> Tally:
    """The tally of no frames."""
    nothing = PckTally(
        np.zeros((ks, joints), dtype=np.int64),
        np.zeros(joints, dtype=np.int64),
        0,
        np.zeros(CURVE_TOP + 1 if curve else 0, dtype=np.int64),
    )
    return Tally(0, (ErrorSum(),) * joints, (nothing,) * norms)
