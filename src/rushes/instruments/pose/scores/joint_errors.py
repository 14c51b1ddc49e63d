"""Distances between predicted and true joints: MPJPE and the sums it is made of, image animation's AKD and MKR, and how
well the movement is followed: errors of velocity and acceleration between consecutive frames."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from rushes.core import Definition
from rushes.core.definition import ratio_definition
from rushes.instruments.pose.files.batch import Chunk, single_pose
from rushes.instruments.pose.scores.geometry import Flags, Floats, joint_distances

HISTORY = (
    "first release",
    "a predicted joint written as 0, 0 with confidence 0 is no prediction; null over no visible joint",
)
"""Of every metric here that rests on which joints were predicted."""


error_definition = partial(
    Definition, unit="coordinate units", lowest=0.0, highest=None, better="lower", history=HISTORY
)
"""A definition of something that is a distance: 0 and up, lower is better."""

MPJPE = error_definition(
    name="mpjpe",
    summary="Mean distance between a predicted joint and the true one.",
    formula="Σ ‖pred − gt‖ over visible joints of all frames / their number, in `dims` coordinates",
    edge_cases="a joint is visible from a visibility of 0.5 on, without visibilities where its true place is finite; "
    "no visible joint, or a visible joint without a finite prediction: null with a note; a prediction written as 0, 0 "
    "with confidence 0 is none",
    reference="Ionescu et al. 2014 (Human3.6M); the pose specification ADR-173",
    open_params=("dims", "unit"),
)
MPJPE_FOUND = error_definition(
    name="mpjpe_found",
    summary="Mean distance over the joints that were predicted at all; read it beside joint_found_ratio.",
    formula="Σ ‖pred − gt‖ / number, over visible joints with a finite prediction",
    edge_cases="joints without a finite prediction are left out and counted in the note; none left: null",
    reference="MPJPE of the pose specification ADR-173, with missing predictions left out",
    open_params=("dims", "unit"),
)
FOUND_RATIO = ratio_definition(
    name="joint_found_ratio",
    better="higher",
    summary="Share of visible joints for which there is a prediction.",
    formula="visible joints with a finite prediction / visible joints",
    edge_cases="no visible joint: null; a prediction written as 0, 0 with confidence 0 is none",
    reference="count behind mpjpe_found",
    history=HISTORY,
)


_CODE = "Siarohin et al. 2019 (Monkey-Net), their pose-evaluation, cmp_with_missing.py"

AKD = error_definition(
    name="akd",
    summary="Average key point distance of image animation: how far joints that both clips show are apart, per axis.",
    formula="per frame the mean of |Δx| and |Δy| over joints visible in the truth and predicted; then the mean over "
    "frames",
    edge_cases="a distance per axis and not between points, so smaller than mpjpe_found; frames without such a joint "
    "are left out, counted in the note; 2-D only",
    reference=_CODE,
    open_params=("unit",),
    history=("first release",),
)
MKR = ratio_definition(
    name="mkr",
    better="lower",
    summary="Missing key point rate of image animation: joints that the truth shows and the prediction lacks.",
    formula="per frame visible joints without a finite prediction / visible joints; then the mean over frames",
    edge_cases="frames without a visible joint are left out; every frame counts once, unlike in joint_found_ratio; 2-D "
    "only",
    reference=_CODE,
)

_MOTION_EDGES = (
    "a joint must be visible in all the frames the difference needs; frames must be consecutive, so sets of single "
    "images have none; a missing prediction leaves those steps out, counted in the note; none left: null"
)

VELOCITY_ERROR = error_definition(
    name="velocity_error",
    unit="coordinate units per frame",
    summary="Mean difference between predicted and true joint velocity: jitter that MPJPE hides.",
    formula="mean ‖(pred_t − pred_{t−1}) − (gt_t − gt_{t−1})‖ over visible joints and frame steps",
    edge_cases=_MOTION_EDGES,
    reference="Pavllo et al. 2019 (MPJVE)",
    open_params=("dims", "unit"),
)
ACCELERATION_ERROR = error_definition(
    name="acceleration_error",
    unit="coordinate units per frame²",
    summary="Mean difference between predicted and true joint acceleration.",
    formula="mean ‖Δ²pred_t − Δ²gt_t‖, Δ²x_t = x_t − 2x_{t−1} + x_{t−2}, over visible joints and frame triples",
    edge_cases=_MOTION_EDGES,
    reference="Kanazawa et al. 2019 (HMMR)",
    open_params=("dims", "unit"),
)


class Summed:
    """A data class of counts and sums: `a + b` adds field by field, and so continues a with b."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True)
class ErrorSum(Summed):
    """A sum of errors that can be continued: pieces are fp64 sums, adding them is exact, so grouping cannot matter."""

    total: Fraction = Fraction(0)
    """Over finite errors only."""
    found: int = 0
    missing: int = 0
    """Errors that are NaN or infinite: nothing finite was predicted there."""

    @property
    def count(self) -> int:
        return self.found + self.missing

    def mean(self) -> float:
        """The mean; NaN when something is missing, 0.0 when there is nothing at all."""
        return math.nan if self.missing else self.found_mean()

    def found_mean(self) -> float:
        """The mean of what was found; 0.0 when nothing was."""
        return float(self.total / self.found) if self.found else 0.0


def error_sum(errors: Floats, counted: Flags) -> ErrorSum:
    """Sum the errors that count; those that are not finite are counted apart."""
    kept = np.where(counted, errors, 0.0)
    number = int(np.count_nonzero(counted))
    with np.errstate(invalid="ignore", over="ignore"):
        total = float(kept.sum())
        if math.isfinite(total):
            return ErrorSum(Fraction(total), number, 0)
        finite = np.isfinite(kept)
        missing = int(finite.size - np.count_nonzero(finite))
        total = float(np.where(finite, kept, 0.0).sum())
    exact = Fraction(total) if math.isfinite(total) else sum(map(Fraction, kept[finite].tolist()), Fraction(0))
    return ErrorSum(exact, number - missing, missing)


def error_sums(errors: Floats, counted: Flags) -> tuple[ErrorSum, ...]:
    """`error_sum` of each row, joints × frames; ordinary data in one go, which adds up the same."""
    with np.errstate(invalid="ignore", over="ignore"):
        totals = (errors * counted).sum(axis=1)  # times 1 or 0: exact, and half the price of a choice
    if not np.isfinite(totals).all():
        return tuple(error_sum(row, seen) for row, seen in zip(errors, counted, strict=True))
    numbers = (int(np.count_nonzero(row)) for row in counted)
    return tuple(ErrorSum(Fraction(total), number) for total, number in zip(totals.tolist(), numbers, strict=True))


def mpjpe(pred: ArrayLike, gt: ArrayLike, vis: ArrayLike) -> float:
    """Mean per-joint position error of one pose, over visible joints, in every coordinate both sides have.

    Formula     Σ ‖pred − gt‖ / visible joints
    Unit        that of the coordinates: pixels in, pixels out; millimetres in, millimetres out
    Edge cases  no visible joint: 0.0. A NaN or infinite prediction of a visible joint: NaN.
    Reference   ADR-173

    >>> mpjpe([[3, 4], [1, 1]], [[0, 0], [1, 1]], [2, 2])
    2.5
    """
    (chunk,) = single_pose(pred, gt, vis).chunks()
    errors = joint_distances(chunk.pred, chunk.gt, columns=chunk.columns)
    return error_sum(errors, chunk.visible).mean()


def animation_errors(chunk: Chunk) -> tuple[ErrorSum, ErrorSum]:
    """Sums over the frames of one piece: of the distances per axis, and of the missing shares."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = (np.abs(chunk.pred[..., :2] - chunk.gt[..., :2])).mean(axis=2)
    present = chunk.visible & np.isfinite(steps)
    shown, both = (np.count_nonzero(flags, axis=1) for flags in (chunk.visible, present))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        distance = np.where(both > 0, np.where(present, steps, 0.0).sum(axis=1) / both, np.nan)
        missing = np.where(shown > 0, (shown - both) / shown, np.nan)
    return error_sum(distance, shown > 0), error_sum(missing, shown > 0)


def difference_errors(
    pred: Floats, gt: Floats, visible: Flags, *, order: int, columns: int, lead: int
) -> tuple[Floats, Flags]:
    """Errors of the `order`-th difference over time, and which of them count.

    `lead` frames at the front belong to the piece before: differences that end in them were counted there.

    >>> steady = np.array([[[0.0, 0.0]], [[1.0, 0.0]], [[2.0, 0.0]]])
    >>> difference_errors(steady * 2, steady, np.ones((3, 1), dtype=bool), order=1, columns=2, lead=0)[0].tolist()
    [[1.0], [1.0]]
    """
    with np.errstate(invalid="ignore", over="ignore"):
        steps = joint_distances(np.diff(pred, n=order, axis=0), np.diff(gt, n=order, axis=0), columns=columns)
    counted = visible
    for _ in range(order):
        counted = counted[1:] & counted[:-1]
    fresh = max(0, lead - order)
    return steps[fresh:], counted[fresh:]
