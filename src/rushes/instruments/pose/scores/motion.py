"""How well the movement is followed: errors of velocity and acceleration between consecutive frames."""

from __future__ import annotations

import numpy as np

from rushes.instruments.pose.scores.geometry import Flags, Floats, joint_distances
from rushes.instruments.pose.scores.joint_errors import error_definition

_EDGES = (
    "a joint must be visible in all the frames the difference needs; frames must be consecutive, so sets of single "
    "images have none; a missing prediction leaves those steps out, counted in the note; none left: null"
)

VELOCITY_ERROR = error_definition(
    name="velocity_error",
    unit="coordinate units per frame",
    summary="Mean difference between predicted and true joint velocity: jitter that MPJPE hides.",
    formula="mean ‖(pred_t − pred_{t−1}) − (gt_t − gt_{t−1})‖ over visible joints and frame steps",
    edge_cases=_EDGES,
    reference="Pavllo et al. 2019 (MPJVE)",
    open_params=("dims", "unit"),
)
ACCELERATION_ERROR = error_definition(
    name="acceleration_error",
    unit="coordinate units per frame²",
    summary="Mean difference between predicted and true joint acceleration.",
    formula="mean ‖Δ²pred_t − Δ²gt_t‖, Δ²x_t = x_t − 2x_{t−1} + x_{t−2}, over visible joints and frame triples",
    edge_cases=_EDGES,
    reference="Kanazawa et al. 2019 (HMMR)",
    open_params=("dims", "unit"),
)


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
