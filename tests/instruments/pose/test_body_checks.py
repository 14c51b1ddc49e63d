"""Remarks about bodies: hips that leap to somebody else, and hips seen from the side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes import score_pose
from rushes.instruments.pose import PoseEvaluation
from rushes.instruments.pose.diagnostics import jumps
from rushes.instruments.pose.files.skeletons import COCO_17, indexed_skeleton


def scored(folder: Path, pred: np.ndarray, gt: np.ndarray, norm: str = "torso-diameter") -> PoseEvaluation:
    np.save(folder / "p.npy", pred)
    np.save(folder / "g.npy", gt)
    return score_pose(folder / "p.npy", folder / "g.npy", norms=norm, run=folder / "run", overwrite=True)


def test_a_leap_to_another_person_is_remarked(tmp_path: Path) -> None:
    gt = walk(20)
    pred = gt.copy()
    pred[7:12] += [400, 0]  # the hips are 68 px apart, the trunk is 116 px long: there and back are two leaps
    done = scored(tmp_path, pred, gt)
    assert any("p.npy: the hips leap by more than 2 torsos 2 times (first frame 7)" in line for line in done.warnings)
    assert not any("g.npy: the hips leap" in line for line in done.warnings)
    near = gt.copy()
    near[7:12] += [100, 0]  # less than the trunk: a quick step
    assert not any("hips leap" in line for line in scored(tmp_path, near, gt).warnings)


def test_images_that_do_not_follow_each_other_have_no_leaps(tmp_path: Path) -> None:
    gt = walk(6)
    gt[::2] += 900
    np.savez(tmp_path / "a.npz", keypoints=gt, ids=np.array(list("abcdef")))
    done = score_pose(tmp_path / "a.npz", tmp_path / "a.npz", norms="all", run=tmp_path / "run")
    assert not any("hips leap" in line for line in done.warnings)


def test_a_body_seen_from_the_side_is_remarked(tmp_path: Path) -> None:
    gt = walk(20)
    gt[..., 0] = 300 + (gt[..., 0] - gt[..., 0].mean(axis=1, keepdims=True)) * 0.1
    done = scored(tmp_path, gt, gt)
    assert any(
        "hip to hip is less than 15% of the trunk in 20 of 20 frames (first frame 0)" in w for w in done.warnings
    )
    assert not any("hip to hip" in line for line in scored(tmp_path, gt, gt, "bbox-diagonal").warnings)
    assert not any("hip to hip" in line for line in scored(tmp_path, walk(20), walk(20)).warnings)


@pytest.mark.parametrize("skeleton", [COCO_17, indexed_skeleton(17, (11, 12))])
def test_leaps_by_hand(skeleton: object) -> None:
    points = np.repeat(walk(1), 4, axis=0)
    points[2:, :, 0] += 1000.0
    seen = np.ones(points.shape[:2], dtype=bool)
    assert jumps(points, seen, skeleton).tolist() == [False, False, True, False]  # type: ignore[arg-type]
    seen[1, 11] = False
    assert not jumps(points, seen, skeleton).any()  # type: ignore[arg-type]
