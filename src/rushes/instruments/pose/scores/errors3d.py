"""3-D errors: after Procrustes alignment, after scaling, and as a share within 150 mm. All in fp64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushes.core import Definition, signature_params
from rushes.core.definition import ratio_definition
from rushes.instruments.pose.scores.geometry import Flags, Floats, joint_distances
from rushes.instruments.pose.scores.joint_errors import HISTORY, error_definition

PA_MPJPE = error_definition(
    name="pa_mpjpe",
    summary="Mean joint distance after the best rotation, scale and shift of each frame: shape alone.",
    formula="per frame min over scale s > 0, rotation R (det +1), shift t of Σ‖s·R·pred + t − gt‖²; "
    "then Σ ‖aligned − gt‖ / visible joints",
    edge_cases="reflections are not allowed; all predicted joints in one spot align to the centroid; a visible joint "
    "without a finite prediction or truth: null with a note; 3-D only",
    reference="Gower 1975; Protocol 2 of Human3.6M",
    open_params=("unit",),
)
N_MPJPE = error_definition(
    name="n_mpjpe",
    summary="Mean joint distance after the best scale of each frame: size taken out, direction kept.",
    formula="s = Σ⟨gt, pred⟩ / Σ⟨pred, pred⟩ per frame over visible joints; then Σ ‖s·pred − gt‖ / visible joints",
    edge_cases="coordinates are used as given unless root is in the signature; all predictions at the origin: scale 0",
    reference="Rhodin et al. 2018",
    open_params=("unit",),
)


def _found(whole: Definition, *, how: str) -> Definition:
    """The same error over the joints that were predicted."""
    return replace(
        whole,
        name=f"{whole.name}_found",
        summary=f"{whole.name} over the joints that were predicted; read it beside joint_found_ratio.",
        formula=f"as {whole.name}, {how} by and summed over visible joints with a finite prediction and truth",
        edge_cases="frames with fewer than three such joints are left out, their joints counted in the note; none "
        "left: null",
        reference=f"{whole.name} with missing predictions left out",
        history=HISTORY[:1],
    )


PA_MPJPE_FOUND, N_MPJPE_FOUND = _found(PA_MPJPE, how="aligned"), _found(N_MPJPE, how="scaled")
PCK_3D = ratio_definition(
    name="pck_3d",
    better="higher",
    summary="Share of visible joints within 150 mm of the truth, in space.",
    formula="#(‖pred − gt‖ ≤ 150 mm in x, y, z) / visible joints",
    edge_cases="needs coordinates in mm, cm or m; a NaN prediction counts as wrong; no visible joint: null",
    reference="Mehta et al. 2017 (MPI-INF-3DHP)",
    params=signature_params(threshold_mm=150),
    named_by=("threshold_mm",),
    history=HISTORY,
)
PCK_3D_AUC = ratio_definition(
    name="pck_3d_auc",
    better="higher",
    summary="Mean 3-D PCK over thresholds from 0 to 150 mm.",
    formula="mean over t = 0, 5, … 150 mm of #(‖pred − gt‖ ≤ t) / visible joints",
    edge_cases="as pck_3d",
    reference="Mehta et al. 2017 (MPI-INF-3DHP)",
    params=signature_params(step_mm=5, to_mm=150),
    named_by=("to_mm",),
    history=HISTORY,
)
DEFINITIONS = (PA_MPJPE, N_MPJPE, PA_MPJPE_FOUND, N_MPJPE_FOUND, PCK_3D, PCK_3D_AUC)

THRESHOLDS_MM = tuple(range(0, 151, 5))


def root_relative(points: Floats, hips: tuple[int, int]) -> Floats:
    """The points with the middle of the hips as origin."""
    return points - ((points[:, hips[0]] + points[:, hips[1]]) / 2)[:, np.newaxis]


def procrustes_errors(pred: Floats, gt: Floats, visible: Flags) -> Floats:
    """Joint distances after each frame's best similarity transform; NaN for frames with a non-finite visible joint.

    >>> triangle = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]])
    >>> turned = 5 * triangle[..., [1, 2, 0]] + 7                    # a cyclic swap of the axes is a rotation
    >>> bool(procrustes_errors(turned, triangle, np.ones((1, 4), dtype=bool)).max() < 1e-12)
    True
    """
    usable = _finite_frames(pred, gt, visible)
    weight = (visible & usable[:, np.newaxis])[..., np.newaxis]
    source, target = np.where(weight, pred, 0.0), np.where(weight, gt, 0.0)
    number = np.maximum(weight.sum(axis=1, keepdims=True), 1)
    centre, goal = source.sum(axis=1, keepdims=True) / number, target.sum(axis=1, keepdims=True) / number
    source, target = np.where(weight, source - centre, 0.0), np.where(weight, target - goal, 0.0)
    spread = np.square(source).sum(axis=(1, 2))
    left, stretch, right = np.linalg.svd(source.transpose(0, 2, 1) @ target)
    # det +1: where the best orthogonal map is a reflection, the weakest direction is turned round.
    turn = np.ones_like(stretch)
    turn[:, 2] = np.where(np.linalg.det(left) * np.linalg.det(right) < 0, -1.0, 1.0)
    rotation = (left * turn[:, np.newaxis, :]) @ right
    scale = np.divide((stretch * turn).sum(axis=1), spread, out=np.zeros_like(spread), where=spread > 0)
    aligned = scale[:, np.newaxis, np.newaxis] * (source @ rotation)
    errors = joint_distances(aligned, target, columns=3)
    errors[~usable] = np.nan
    return errors


def scaled_errors(pred: Floats, gt: Floats, visible: Flags) -> Floats:
    """Joint distances after each frame's best scale; NaN for frames with a non-finite visible joint."""
    usable = _finite_frames(pred, gt, visible)
    weight = (visible & usable[:, np.newaxis])[..., np.newaxis]
    source, target = np.where(weight, pred, 0.0), np.where(weight, gt, 0.0)
    spread = np.square(source).sum(axis=(1, 2))
    scale = np.divide((source * target).sum(axis=(1, 2)), spread, out=np.zeros_like(spread), where=spread > 0)
    errors = joint_distances(scale[:, np.newaxis, np.newaxis] * source, target, columns=3)
    errors[~usable] = np.nan
    return errors


LEAST_JOINTS = 3
"""Fewer joints can be laid on one another whatever they are."""


def usable_joints(pred: Floats, gt: Floats, visible: Flags) -> Flags:
    """Visible joints that are finite on both sides, of frames with at least three of them."""
    with np.errstate(invalid="ignore"):
        found = visible & (np.abs(pred) < 1e150).all(axis=2) & (np.abs(gt) < 1e150).all(axis=2)
    return np.asarray(found & (np.count_nonzero(found, axis=1) >= LEAST_JOINTS)[:, np.newaxis])


def _finite_frames(pred: Floats, gt: Floats, visible: Flags) -> Flags:
    """Frames whose visible joints are all finite, and small enough to be squared, on both sides."""
    with np.errstate(invalid="ignore"):
        sound = (np.abs(pred) < 1e150).all(axis=2) & (np.abs(gt) < 1e150).all(axis=2)
    return np.asarray((sound | ~visible).all(axis=1))


def within_counts(errors: Floats, visible: Flags, thresholds: tuple[float, ...]) -> list[int]:
    """How many visible joints lie within each threshold."""
    with np.errstate(invalid="ignore"):
        return [int(np.count_nonzero((errors <= threshold) & visible)) for threshold in thresholds]
