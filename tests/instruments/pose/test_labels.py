"""No hole in a label: whatever moves a number is in its signature, and what was not measured has no value."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from tests.instruments.pose.figures import walk

from rushes import compare_runs, score_pose
from rushes.core.errors import InputError
from rushes.instruments.pose import PoseBatch, PoseEvaluation, TorsoDiameter, accuracy_report, mpjpe
from rushes.instruments.pose.files.poses import read_poses
from rushes.instruments.pose.files.skeletons import COCO_17, H36M_17
from rushes.instruments.pose.measurements import as_measurements
from rushes.instruments.pose.scores.pck import checked_ks, pck_definition
from rushes.instruments.pose.seed.accuracy import tally_batch


def scored(folder: Path, pred: dict[str, object], gt: dict[str, object], **asked: object) -> PoseEvaluation:
    for name, arrays in (("p", pred), ("g", gt)):
        np.savez(folder / f"{name}.npz", **arrays)  # type: ignore[arg-type]
    asked = {"norms": "torso-diameter", "ks": 20, "overwrite": True, "run": folder / "run"} | asked
    return score_pose(folder / "p.npz", folder / "g.npz", **asked)  # type: ignore[arg-type]


def test_nothing_visible_has_no_value_in_the_store_and_compare_says_nothing(tmp_path: Path) -> None:
    gt = walk(6)
    one = scored(tmp_path, {"keypoints": gt + 3}, {"keypoints": gt}, run=tmp_path / "a")
    none = {"keypoints": gt, "visibility": np.zeros(gt.shape[:2])}
    other = scored(tmp_path, {"keypoints": gt + 3}, none, run=tmp_path / "b")
    for name in ("mpjpe", "pck"):
        assert (other[name].value, other[name].count) == (None, 0) and other[name].note
    # The seed's function and its result keep their answer.
    assert (other.accuracies[0].mpjpe, other.accuracies[0].pck_at[20]) == (0.0, 0.0)
    assert mpjpe(gt[0], gt[0], np.zeros(17)) == 0.0
    found = compare_runs(one.run, other.run)
    assert all(metric.statistics.mean.value is None for name in ("mpjpe", "pck") for metric in found.find(name))


def test_other_hips_are_another_signature() -> None:
    plain, other = (pck_definition(20, norm) for norm in (TorsoDiameter(), TorsoDiameter(5, 6)))
    assert plain.signature == "pck|k:20|norm:torso-diameter|v:2"
    assert other.signature == "pck|hips:5-6|k:20|norm:torso-diameter|v:2"
    gt = walk(1)
    reports = [accuracy_report(PoseBatch(gt, gt, None), [20], norm) for norm in (TorsoDiameter(), TorsoDiameter(5, 6))]
    assert "(torso-diameter, 17" in reports[0].summary() and "(torso-diameter(5-6), 17" in reports[1].summary()
    for wrong in ((-1, 12), (3, 3)):
        with pytest.raises(InputError, match="two different joints, counted from 0"):
            TorsoDiameter(*wrong)


def test_four_joints_do_not_get_coco_s_signature() -> None:
    gt, norm = walk(3)[:, :4], TorsoDiameter(0, 1)
    batch = PoseBatch(gt, gt, None)
    tally = tally_batch(batch, ks=[20], norms=[norm])
    rows = as_measurements(accuracy_report(batch, [20], norm), tally)
    assert rows[0].signature == "pck|hips:0-1|k:20|norm:torso-diameter|skeleton:4-joints|v:2"
    assert all("|skeleton:4-joints|" in row.signature for row in rows)
    named = as_measurements(accuracy_report(batch, [20], norm), tally, skeleton=H36M_17)
    assert all("|skeleton:h36m-17|" in row.signature for row in named)


def test_files_that_name_different_skeletons_are_refused(tmp_path: Path) -> None:
    h36m = {"keypoints": walk(4, skeleton=H36M_17), "skeleton": np.array("h36m-17")}
    coco = {"keypoints": walk(4), "skeleton": np.array("coco-17")}
    with pytest.raises(
        InputError, match="p.npz: says its joints are h36m-17, which has no left_eye; coco-17 was to be"
    ):
        scored(tmp_path, h36m, coco)
    with pytest.raises(InputError, match="p.npz: says its joints are h36m-17, which has no left_eye; coco-17"):
        scored(tmp_path, h36m, {"keypoints": walk(4)}, skeleton="coco-17")
    with pytest.raises(
        InputError, match="p.npz says its joints are h36m-17 and .*g.npz coco-17; both need one skeleton"
    ):
        scored(tmp_path, h36m, coco, hips=(11, 12))
    with pytest.raises(InputError, match="p.npz: says its joints are 'foo'; known are coco-17"):
        scored(tmp_path, {"keypoints": walk(4), "skeleton": np.array("foo")}, coco)
    done = scored(tmp_path, h36m, h36m, hips=(1, 4))
    assert "|skeleton:h36m-17.hips-1-4|" in done["pck"].signature


def test_joints_picked_by_name_are_in_the_signature(tmp_path: Path) -> None:
    from rushes.instruments.pose.files.skeletons import MEDIAPIPE_33

    whole = walk(4, skeleton=MEDIAPIPE_33)
    order = [MEDIAPIPE_33.joints.index(joint) for joint in COCO_17.joints]
    named = {"keypoints": whole, "skeleton": np.array("mediapipe-33")}
    done = scored(tmp_path, named, {"keypoints": whole[:, order], "skeleton": np.array("coco-17")})
    assert done["pck"].value == 1.0
    assert done["pck"].signature == "pck|k:20|norm:torso-diameter|pred_joints:mediapipe-33|v:2"


def test_who_found_the_truth_and_how_poses_were_paired_is_in_the_signature(tmp_path: Path) -> None:
    gt = {"keypoints": walk(4)}
    guess = gt | {"weights": np.array("0123abcd")}
    labels = []
    for pred, truth in ((guess, gt), (gt, guess), (guess, guess), (gt, gt)):
        labels.append(dict(scored(tmp_path, pred, truth)["mpjpe"].definition.params))
    found = [{key: row[key] for key in ("estimator", "truth") if key in row} for row in labels]
    digest = "0123abcd"
    assert found == [{"estimator": digest}, {"truth": digest}, {"estimator": digest, "truth": digest}, {}]
    with_ids = gt | {"ids": np.arange(4)}
    assert "|pair:image-id|" in scored(tmp_path, with_ids, with_ids)["pck"].signature


@pytest.mark.parametrize(
    ("pred", "gt", "asked", "message"),
    [
        ("px", "px", "furlong", "--unit: a unit is one of px, mm, cm, m, normalised, as-given; got 'furlong'"),
        ("px", "px", "MM", "got 'MM'"),
        ("m", "mm", None, "p.npz is in m and .*g.npz in mm; convert one of them first"),
        ("px", "px", "mm", "p.npz: is in px, and unit='mm' was given; convert the file"),
        ("ell", "px", None, "p.npz: a unit is one of"),
    ],
)
def test_a_unit_is_one_that_is_known_and_that_files_agree_on(
    tmp_path: Path, pred: str, gt: str, asked: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        points = walk(2)
        scored(
            tmp_path,
            {"keypoints": points, "unit": np.array(pred)},
            {"keypoints": points, "unit": np.array(gt)},
            unit=asked,
        )


def test_joints_written_as_zeros_with_confidence_zero_are_missing(tmp_path: Path) -> None:
    gt = walk(5)
    written = np.concatenate([gt, np.full((5, 17, 1), 0.9)], axis=2)
    written[2, 9:11] = 0.0  # both wrists of one frame, as OpenPose writes what it did not find
    results = [{"image_id": t, "keypoints": p.ravel().tolist(), "score": 1} for t, p in enumerate(written)]
    truth = [{"image_id": t, "keypoints": np.c_[p, np.full(17, 2)].ravel().tolist()} for t, p in enumerate(gt)]
    (tmp_path / "p.json").write_text(json.dumps(results))
    (tmp_path / "g.json").write_text(json.dumps({"annotations": truth}))
    done = score_pose(tmp_path / "p.json", tmp_path / "g.json", norms="bbox-diagonal", ks=20, run=tmp_path / "run")
    assert done["mpjpe"].value is None and done["mpjpe_found"].value == 0.0
    assert (done["joint_found_ratio"].value, done["joint_found_ratio"].count) == (83 / 85, 85)
    assert any("2 of these are written as 0, 0 with confidence 0: taken as not found" in w for w in done.warnings)
    # The same in an array, which stays as the caller has it.
    np.save(tmp_path / "p.npy", written)
    again = score_pose(
        tmp_path / "p.npy", tmp_path / "g.json", norms="bbox-diagonal", ks=20, columns="xyv", run=tmp_path / "run2"
    )
    assert again["joint_found_ratio"].value == 83 / 85
    batch = PoseBatch(written[..., :2], gt, None, written[..., 2])
    assert np.isnan(next(batch.chunks()).pred[2, 9]).all() and batch.pred[2, 9].tolist() == [0.0, 0.0]
    # Without a confidence nobody can tell: scored, and said.
    plain = scored(tmp_path, {"keypoints": written[..., :2]}, {"keypoints": gt}, norms="bbox-diagonal")
    assert plain["joint_found_ratio"].value == 1.0
    assert any("2 joints predicted at exactly 0, 0, scored as they are" in w for w in plain.warnings)


def test_an_accuracy_is_plain_data() -> None:
    gt = walk(2)
    report = accuracy_report(PoseBatch(gt, gt, None), [5, 20.0], TorsoDiameter())
    plain = dataclasses.asdict(report)
    assert plain["pck_at"] == {5: 1.0, 20: 1.0} and json.loads(json.dumps(plain))["mpjpe"] == 0.0
    again = pickle.loads(pickle.dumps(report))
    assert again == report and hash(again) == hash(report)
    with pytest.raises(TypeError, match="cannot be changed"):
        report.pck_at[5] = 1.0  # type: ignore[index]


def test_a_k_is_a_whole_number_however_it_is_written() -> None:
    assert checked_ks([20.0, np.float64(5), np.int64(20)]) == [5, 20]
    for wrong in (20.5, float("nan"), float("inf"), True, 10**7, "20"):
        with pytest.raises(InputError, match="k is a whole percentage"):
            checked_ks([wrong])  # type: ignore[list-item]


def test_what_a_clip_s_poses_say_survives_their_file(tmp_path: Path) -> None:
    from rushes.instruments.pose.files.extract import ClipPoses, save_poses

    points = np.full((4, 33, 3), 5.0, dtype=np.float32)
    points[1] = np.nan
    seen = np.ones((4, 33), np.float32)
    poses = ClipPoses(
        path="a.mp4",
        points=points,
        visibility=seen,
        presence=seen[:, 0],
        time_ms=np.arange(4) * 40.0,
        size=(64, 48),
        weights="0123abcd",
        decode_failures=2,
    )
    stored = read_poses(save_poses(tmp_path / "a.npz", poses))
    assert stored.warnings == poses.pose_set().warnings
    assert stored.warnings == ("no body found in 1 of 4 frames", "2 frames could not be decoded")
