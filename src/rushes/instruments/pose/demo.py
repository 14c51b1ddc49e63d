"""A walking figure, and a copy of it with a broken left arm: `rushes pose` says which joint, and by which rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.instrument import DemoPart
from rushes.instruments.pose import AbsolutePixels, BoundingBoxDiagonal, TorsoDiameter, pck_at
from rushes.instruments.pose.evaluate import score_pose
from rushes.instruments.pose.files.skeletons import COCO_17
from rushes.instruments.pose.show.tables import norm_of

FRAMES = 150
SHAKE_PX = 6.0
ARM_LAG = 9
"""Frames by which the broken arm follows."""
PX = 12.0

Points = NDArray[np.float64]


def walk(frames: int = FRAMES) -> Points:
    """A figure of 400 px that walks to the right and swings its arms and legs: frames × 17 × 2."""
    layout = np.array(COCO_17.layout)
    time = np.arange(frames)[:, np.newaxis]
    side = np.array([1.0 if name.startswith("left") else -1.0 for name in COCO_17.joints])
    reach = np.array([_SWING.get(name.split("_")[-1], 0.0) for name in COCO_17.joints])
    # Arms swing against the legs.
    against = np.array([-1.0 if name.split("_")[-1] in ("elbow", "wrist") else 1.0 for name in COCO_17.joints])
    x = 150 + 3.0 * time + 200 * layout[:, 0] + reach * side * against * np.sin(time / 5)
    y = 40 + 200 * layout[:, 1] + 3 * np.cos(time / 2.5) + 0 * x
    return np.stack([x, y], axis=-1)


_SWING = {"elbow": 30.0, "wrist": 60.0, "knee": 30.0, "ankle": 60.0}


def broken(truth: Points) -> Points:
    """The walk as a model might have drawn it: a little shaky all over, the left forearm late by nine frames."""
    rng = np.random.Generator(np.random.PCG64(173))
    drawn = truth + rng.normal(0.0, SHAKE_PX, truth.shape)
    wrist, shoulder = (COCO_17.joints.index(f"left_{part}") for part in ("wrist", "shoulder"))
    late = truth[:, wrist] - truth[:, shoulder]
    drawn[:, wrist] = drawn[:, shoulder] + np.roll(late, ARM_LAG, axis=0)
    return drawn


def key_proof() -> tuple[float, float, float]:
    """One pose by hand: nose off by 0.06, shoulder by 0.10, hips exact. Torso, box and absolute PCK@20."""
    gt, vis = np.zeros((17, 2)), np.zeros(17)
    for joint, place in ((0, (0.5, 0.1)), (5, (0.5, 0.3)), (11, (0.4, 0.9)), (12, (0.6, 0.9))):
        gt[joint], vis[joint] = place, 2.0
    pred = gt.copy()
    pred[0, 0], pred[5, 0] = 0.56, 0.6
    norms = (TorsoDiameter(), BoundingBoxDiagonal(), AbsolutePixels(0.08))
    torso, box, absolute = (pck_at(pred, gt, vis, 20, norm)[2] for norm in norms)
    return torso, box, absolute


def run(folder: Path) -> DemoPart:
    """Write the poses, score them under all three normalisations, and check that the broken joint is the one found."""
    samples = folder / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    truth = walk()
    paths: dict[str, Path] = {"pose_driving": samples / "pose_driving.npz", "pose_drawn": samples / "pose_drawn.npz"}
    facts: dict[str, Any] = {"skeleton": np.array(COCO_17.name), "unit": np.array("px")}
    np.savez_compressed(paths["pose_driving"], keypoints=truth, visibility=np.full(truth.shape[:2], 2.0), **facts)
    np.savez_compressed(paths["pose_drawn"], keypoints=broken(truth), **facts)
    done = score_pose(
        paths["pose_drawn"], paths["pose_driving"], norms="all", ks=20, px=PX, run=folder / "pose", overwrite=True
    )
    pcks = done.select("pck", joint=None)
    rows = [(norm_of(m), f"{m.value:.4f}", m.signature) for m in pcks]
    by_joint = done.select("pck", norm="torso-diameter")
    joints = {m.place["joint"]: m.value for m in by_joint if m.at and m.value is not None}
    worst = min(joints, key=lambda joint: joints[joint])
    proof = key_proof()
    return DemoPart(
        title="Pose: one set of predictions, three normalisations",
        run=done.run,
        found=f"The same poses score three different PCK@20, so none means anything without its signature. "
        f"The joint that was broken is the one found: {worst.replace('_', ' ')}, {joints[worst]:.2f}. "
        f"A pose of four joints, worked out by hand, gives {proof[0]:.2f}, {proof[1]:.2f} and {proof[2]:.2f}.",
        header=("normalisation", "PCK@20", "signature"),
        rows=rows,
        as_expected=worst == "left_wrist" and proof == (0.5, 1.0, 0.75) and len({row[1] for row in rows}) == 3,
    )
