"""Two files put together: one skeleton, one number of dimensions, frames paired; or a clear refusal."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.instruments.pose.files.batch import PoseSet
from rushes.instruments.pose.files.skeletons import COCO_17, H36M_17, indexed_skeleton
from rushes.instruments.pose.pairing.files import agree_on_skeleton, one_size, pair_frames, same_dims
from rushes.instruments.pose.scores.normalization import parse_norms


def file(joints: int, *, columns: int = 2, path: str = "a.npz", **facts: object) -> PoseSet:
    points = np.arange(float(joints * columns)).reshape(1, joints, columns)
    return PoseSet(path=path, points=points, **facts)  # type: ignore[arg-type]


def agree(pred: PoseSet, gt: PoseSet, **asked: object) -> tuple[object, PoseSet, PoseSet, list[str]]:
    return agree_on_skeleton(pred, gt, **({"skeleton": None, "hips": None, "head": None} | asked))  # type: ignore[arg-type]


def test_by_count_and_said_so() -> None:
    body, _, _, notes = agree(file(17), file(17, path="g.npy"))
    assert body is COCO_17
    assert notes == ["g.npy: 17 joints taken as coco-17; give --skeleton if they are not"]
    assert agree(file(17), file(17), skeleton="h36m-17")[0] is H36M_17
    assert agree(file(33), file(33, skeleton="mediapipe-33"))[3] == []


def test_different_joint_counts() -> None:
    with pytest.raises(InputError, match="p.npy: has 21 joints and coco-17 has 17"):
        agree(file(21, path="p.npy"), file(17))
    with pytest.raises(InputError, match="g.npy: 20 joints match no known skeleton.*hips=…"):
        agree(file(20), file(20, path="g.npy"))
    with pytest.raises(InputError, match="has 25 joints and h36m-17 has 17"):
        agree(file(25), file(25), skeleton="h36m-17")


def test_joints_are_picked_by_name() -> None:
    body, pred, gt, notes = agree(file(33, path="p.npz", visibility=np.ones((1, 33))), file(17), skeleton="coco-17")
    assert body is COCO_17 and pred.points.shape == (1, 17, 2) and gt.points.shape == (1, 17, 2)
    # COCO's left hip, 11, is MediaPipe's 23: x = 2 · 23.
    assert pred.points[0, 11].tolist() == [46.0, 47.0]
    assert pred.visibility is not None and pred.visibility.shape == (1, 17)
    assert notes == ["p.npz: the 17 joints of coco-17 picked by name out of mediapipe-33"]


def test_a_wrong_name_is_found_out_by_the_file_s_own_names() -> None:
    with pytest.raises(InputError, match="joint 0 is called 'nose', which h36m-17 calls 'pelvis'"):
        agree(file(17), file(17, joint_names=COCO_17.joints), skeleton="h36m-17")


def test_hips_and_head_by_index() -> None:
    body, *_ = agree(file(20), file(20), hips=(3, 4), head=(0, 1))
    assert body == indexed_skeleton(20, (3, 4), (0, 1))
    with pytest.raises(InputError, match="not both"):
        agree(file(17), file(17), skeleton="coco-17", hips=(1, 2))
    changed, *_ = agree(file(17), file(17), head=(0, 5))
    assert parse_norms("head-size", changed)[0].label() == "head-size(0-5)"  # type: ignore[arg-type]


def test_pictures_of_two_sizes() -> None:
    with pytest.raises(InputError, match="512×512 and b.mp4 640×360"):
        one_size(file(33, size=(512, 512)), file(33, size=(640, 360), path="b.mp4"), scale=False)


def test_two_against_three_dimensions() -> None:
    flat, deep = file(17, path="p.npy"), file(17, columns=3, path="g.npy")
    with pytest.raises(InputError, match="p.npy is 2-D and g.npy 3-D; dims=2"):
        same_dims(flat, deep, None)
    assert [side.points.shape[2] for side in same_dims(flat, deep, 2)] == [2, 2]
    assert [side.points.shape[2] for side in same_dims(deep, deep, None)] == [3, 3]
    with pytest.raises(InputError, match="dims=3 needs a third"):
        same_dims(flat, flat, 3)


def frames_of(frames: int, ids: tuple[object, ...] | None = None, path: str = "a.npz") -> PoseSet:
    points = np.arange(frames * 4.0).reshape(frames, 2, 2)
    return PoseSet(path=path, points=points, ids=ids)  # type: ignore[arg-type]


def test_by_order_counts_the_longer_side() -> None:
    pred, gt = frames_of(5, path="p.npy"), frames_of(3, path="g.npy")
    pairing = pair_frames(pred, gt)
    assert (pairing.by, pairing.frames, pairing.pred_only, pairing.gt_only) == ("order", 3, ("frame 3", "frame 4"), ())
    assert pairing.warnings(pred, gt, "skip") == [
        "p.npy: 2 poses without a match in g.npy (frame 3, frame 4): not scored"
    ]
    assert pairing.as_dict() == {"matched_by": "order", "frames": 3, "pred_unmatched": 2, "gt_unmatched": 0}


def test_by_order_keeps_a_mapped_file_mapped() -> None:
    pairing = pair_frames(frames_of(4), frames_of(4))
    points = np.zeros((4, 2, 2))
    assert pairing.take(points, "gt").base is points


def test_by_id_in_any_order() -> None:
    pred, gt = frames_of(3, ids=(30, 10, 99)), frames_of(3, ids=(10, 20, 30))
    pairing = pair_frames(pred, gt)
    assert pairing.by == "image id" and pairing.frames == 2
    assert pairing.take(pred.points, "pred")[:, 0, 0].tolist() == [4.0, 0.0]
    assert pairing.take(gt.points, "gt")[:, 0, 0].tolist() == [0.0, 8.0]
    assert (pairing.pred_only, pairing.gt_only) == (("image 99",), ("image 20",))
    assert len(pairing.warnings(pred, gt, "skip")) == 2


def test_unmatched_truths_can_count_as_wrong() -> None:
    pred, gt = frames_of(1, ids=(30,)), frames_of(2, ids=(10, 30))
    pairing = pair_frames(pred, gt, unmatched="wrong")
    taken = pairing.take(pred.points, "pred")
    assert pairing.frames == 2 and np.isnan(taken[0]).all() and taken[1].tolist() == pred.points[0].tolist()
    assert "counted as wrong" in pairing.warnings(pred, gt, "wrong")[0]
    by_order = pair_frames(frames_of(1), frames_of(3), unmatched="wrong")
    assert by_order.frames == 3 and np.isnan(by_order.take(frames_of(1).points, "pred")[1:]).all()
    assert by_order.take(frames_of(3).points, "gt").shape == (3, 2, 2)


def test_one_side_without_ids_goes_by_order() -> None:
    assert pair_frames(frames_of(2, ids=(5, 6)), frames_of(2)).by == "order"


def test_nothing_in_common() -> None:
    with pytest.raises(InputError, match=r"no image id is in both \(the first are '7' and 7\)"):
        pair_frames(frames_of(1, ids=("7",)), frames_of(1, ids=(7,)))
