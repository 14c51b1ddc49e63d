"""AKD and MKR: the pose errors that papers on image animation report, as their published code computes them."""

from __future__ import annotations

import numpy as np

from rushes.core import Definition
from rushes.pose.batch import Chunk
from rushes.pose.joint_errors import ErrorSum, error_definition, error_sum

_CODE = "Siarohin et al. 2019 (Monkey-Net), their pose-evaluation, cmp_with_missing.py"

AKD = error_definition(
    "akd",
    summary="Average key point distance of image animation: how far joints that both clips show are apart, per axis.",
    formula="per frame the mean of |Δx| and |Δy| over joints visible in the truth and predicted; then the mean over "
    "frames",
    edge_cases="a distance per axis and not between points, so smaller than mpjpe_found; frames without such a joint "
    "are left out, counted in the note; 2-D only",
    reference=_CODE,
    open_params=("unit",),
    history=("first release",),
)
MKR = Definition(
    name="mkr",
    unit="ratio",
    lowest=0.0,
    highest=1.0,
    better="lower",
    summary="Missing key point rate of image animation: joints that the truth shows and the prediction lacks.",
    formula="per frame visible joints without a finite prediction / visible joints; then the mean over frames",
    edge_cases="frames without a visible joint are left out; every frame counts once, unlike in joint_found_ratio; 2-D "
    "only",
    reference=_CODE,
)


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
