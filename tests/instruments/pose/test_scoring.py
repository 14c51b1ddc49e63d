"""The one pass over a pair: what it adds up, what it notices, and the labelled numbers that come out."""

from __future__ import annotations

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes.instruments.pose import PoseBatch
from rushes.instruments.pose.files.batch import CHUNK_FRAMES
from rushes.instruments.pose.files.skeletons import COCO_17, H36M_17, Skeleton
from rushes.instruments.pose.measurements import pose_measurements
from rushes.instruments.pose.scores.joint_errors import difference_errors
from rushes.instruments.pose.scores.normalization import parse_norms
from rushes.instruments.pose.scoring import ScoreSettings, score_batch


def settings(skeleton: Skeleton = COCO_17, **asked: object) -> ScoreSettings:
    norms = parse_norms(["all"], skeleton)
    return ScoreSettings(norms=norms, ks=(5, 20), skeleton=skeleton, **asked)  # type: ignore[arg-type]


def numbers(
    pred: np.ndarray, gt: np.ndarray, how: ScoreSettings, vis: np.ndarray | None = None
) -> dict[object, object]:
    """Values by signature, those of a joint by signature and joint."""
    batch = PoseBatch(pred, gt, vis)
    scores = score_batch(batch, how)
    rows = pose_measurements(scores, how, columns=batch.columns, areas=False)
    found = {(m.signature, *m.place.values()): m.value for m in rows}
    assert len(found) == len(rows)
    return {key[0] if len(key) == 1 else key: value for key, value in found.items()}


def test_a_shifted_walk_by_hand() -> None:
    # Every joint 6 px to the right: MPJPE 6, no velocity or acceleration error. Hips 68 apart less the swing, so
    # τ@5 < 6 and τ@20 > 6; absolute 10 px passes everything.
    gt = walk(50)
    found = numbers(gt + [6.0, 0.0], gt, settings(unit="px"))
    assert found["mpjpe|dims:2|unit:px|v:2"] == pytest.approx(6.0, abs=1e-12)
    assert found["velocity_error|dims:2|unit:px|v:2"] == pytest.approx(0.0, abs=1e-12)
    assert found["acceleration_error|dims:2|unit:px|v:2"] == pytest.approx(0.0, abs=1e-12)
    assert found["pck|k:5|norm:torso-diameter|v:2"] == 0.0
    assert found["pck|k:20|norm:torso-diameter|v:2"] == 1.0
    assert found["pck|k:5|norm:absolute-px(10)|v:2"] == 1.0
    assert found["joint_found_ratio|v:2"] == 1.0
    assert found["pck|k:20|norm:torso-diameter|v:2", "left_wrist"] == 1.0


def test_one_bad_joint_shows_in_its_own_row() -> None:
    gt = walk(40)
    pred = gt.copy()
    pred[::2, 9] += 500  # left wrist, every other frame
    found = numbers(pred, gt, settings())
    joints = {name: found["pck|k:20|norm:bbox-diagonal|v:2", name] for name in COCO_17.joints}
    assert joints.pop("left_wrist") == 0.5 and set(joints.values()) == {1.0}


def test_space_scores() -> None:
    # Twice the size and shifted: PA-MPJPE 0. In metres, 0.1 off in every joint is 100 mm: within 150, and over 21 to
    # 31 of the 31 thresholds 0, 5 … 150 (100, 105 … 150 are eleven).
    gt = walk(30, skeleton=H36M_17, columns=3) / 100
    found = numbers(gt * 2 + 7, gt, settings(H36M_17, unit="m"))
    assert found["pa_mpjpe|skeleton:h36m-17|unit:m|v:2"] == pytest.approx(0.0, abs=1e-12)
    near = numbers(gt + [0.0, 0.0, 0.1], gt, settings(H36M_17, unit="m"))
    assert near["pck_3d|skeleton:h36m-17|threshold_mm:150|v:2"] == 1.0
    auc = near["pck_3d_auc|skeleton:h36m-17|step_mm:5|to_mm:150|v:2"]
    assert auc == pytest.approx(11 / 31, abs=0.04)  # 0.1 m is a rounding away from 100 mm
    rooted = numbers(gt + [0.0, 0.0, 0.1], gt, settings(H36M_17, unit="m", root="hips"))
    assert rooted["mpjpe|dims:3|root:hips|skeleton:h36m-17|unit:m|v:2"] == pytest.approx(0.0, abs=1e-12)
    unknown = numbers(gt, gt, settings(H36M_17))
    assert unknown["pck_3d|skeleton:h36m-17|threshold_mm:150|v:2"] is None


def test_missing_predictions() -> None:
    gt = walk(10)
    pred = gt.copy()
    pred[3] = np.nan
    found = numbers(pred, gt, settings())
    assert found["mpjpe|dims:2|unit:as-given|v:2"] is None
    assert found["mpjpe_found|dims:2|unit:as-given|v:2"] == 0.0
    assert found["joint_found_ratio|v:2"] == 0.9
    assert found["pck|k:20|norm:torso-diameter|v:2"] == 0.9


def test_nothing_visible_is_null_with_a_note() -> None:
    gt = walk(4)
    batch, how = PoseBatch(gt, gt, np.zeros((4, 17))), settings()
    rows = pose_measurements(score_batch(batch, how), how, columns=2, areas=False)
    assert all(m.count == 0 and m.note and m.value is None for m in rows)
    torso = next(m for m in rows if m.signature == "pck|k:20|norm:torso-diameter|v:2")
    assert (
        torso.value is None
        and torso.note == "4 of 4 frames not scoreable: a hip is not visible, or both are in one place"
    )


def test_pieces_change_nothing(rng: np.random.Generator) -> None:
    n = CHUNK_FRAMES + 50
    gt = walk(n)
    pred = gt + rng.normal(0, 5, gt.shape)
    scores = score_batch(PoseBatch(pred, gt, None), settings())
    assert np.concatenate(scores.frame_errors).shape == (n,)
    for order, found in ((1, scores.velocity), (2, scores.acceleration)):
        errors, _ = difference_errors(pred, gt, np.ones(gt.shape[:2], bool), order=order, columns=2, lead=0)
        assert found.count == errors.size
        assert found.mean() == pytest.approx(errors.mean(), rel=1e-12)


def test_what_the_checks_see() -> None:
    gt = walk(6)
    vis = np.ones((6, 17))
    pred = gt.copy()
    pred[:, [11, 12]] = gt[:, [12, 11]]
    pred[2, 5, 1] = np.inf
    pred[4, 0, 0] = 1e12
    gt = gt.copy()
    gt[3, 7] = np.nan
    checks = score_batch(PoseBatch(pred, gt, vis), settings()).checks
    assert (checks.hips_swapped.count, checks.hips_seen) == (6, 6)
    assert (checks.pred_missing.count, checks.pred_missing.first) == (1, (2, 5))
    assert (checks.pred_huge.count, checks.pred_huge.first) == (1, (4, 0))
    assert (checks.truth_unplaced.count, checks.truth_unplaced.first) == (1, (3, 7))
    assert checks.better_skeleton("coco-17") is None


def test_the_wrong_skeleton_is_noticed() -> None:
    gt = walk(50, skeleton=H36M_17)
    checks = score_batch(PoseBatch(gt, gt, None), settings(COCO_17)).checks
    assert checks.better_skeleton("coco-17") == "h36m-17"
    assert score_batch(PoseBatch(walk(50), walk(50), None), settings()).checks.better_skeleton("coco-17") is None
