"""OKS: COCO's object key point similarity, how close a pose is in units of how well people agree on each joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.core import signature_params
from rushes.core.definition import ratio_definition
from rushes.instruments.pose.scores.geometry import Flags, Floats, bbox_sides
from rushes.instruments.pose.scores.joint_errors import HISTORY

COCO_SIGMAS: tuple[float, ...] = (
    0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072,
    0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089,
)  # fmt: skip
"""Standard deviation of human annotation per COCO joint, relative to the object's scale."""

OKS = ratio_definition(
    name="oks",
    unit="similarity",
    better="higher",
    summary="Mean object key point similarity: 1 on the spot, falling off as people's own agreement does.",
    formula="per frame mean over visible joints of exp(−d² / (2 · area · (2σ)²)); then the mean over frames",
    edge_cases="no visible joint or an area that is not positive: the frame is left out; a NaN prediction is "
    "similarity 0; d in x and y; the area is taken 2.2e-16 larger, as pycocotools does; area is the annotation's, or "
    "where a file has none the true key points' box (in the signature)",
    reference="COCO key point evaluation (pycocotools, computeOks)",
    params=signature_params(sigmas="coco-17"),
    open_params=("area",),
    history=HISTORY,
)


def oks_per_frame(pred: Floats, gt: Floats, visible: Flags, areas: Floats) -> Floats:
    """OKS of each frame; NaN where it cannot be scored.

    Inputs      frames × 17 × 2 or more columns, visible joints frames × 17, object areas in squared coordinate units

    >>> pose = np.arange(34.0).reshape(1, 17, 2)
    >>> oks_per_frame(pose, pose, np.ones((1, 17), dtype=bool), np.array([900.0]))
    array([1.])
    """
    variances = (2 * np.asarray(COCO_SIGMAS)) ** 2
    usable = visible.any(axis=1) & np.isfinite(areas) & (areas > 0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        dx, dy = pred[..., 0] - gt[..., 0], pred[..., 1] - gt[..., 1]
        # The tiny term is pycocotools' own, against a zero area; it is below fp64's resolution for any real one.
        exponent = (dx * dx + dy * dy) / variances / (areas[:, np.newaxis] + np.spacing(1)) / 2
        similar = np.where(np.isfinite(exponent), np.exp(-exponent), 0.0)
        scores: NDArray[np.float64] = np.where(visible, similar, 0.0).sum(axis=1) / visible.sum(axis=1)
    return np.where(usable, scores, np.nan)


def bbox_areas(gt: Floats, visible: Flags) -> Floats:
    """Area of the box around the visible joints: the stand-in where a file has no areas."""
    width, height = bbox_sides(gt, visible)
    with np.errstate(over="ignore"):
        return width * height
