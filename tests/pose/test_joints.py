"""One skeleton and one number of dimensions for both files, or a clear refusal."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.errors import InputError
from rushes.pose.joints import agree_on_skeleton, same_dims
from rushes.pose.norm_names import parse_norms
from rushes.pose.poses import PoseSet
from rushes.pose.skeletons import COCO_17, H36M_17, MEDIAPIPE_33, indexed_skeleton


def poses(joints: int, *, columns: int = 2, path: str = "a.npz", **facts: object) -> PoseSet:
    points = np.arange(float(joints * columns)).reshape(1, joints, columns)
    return PoseSet(path=path, points=points, **facts)  # type: ignore[arg-type]


def agree(pred: PoseSet, gt: PoseSet, **asked: object) -> tuple[object, PoseSet, PoseSet, list[str]]:
    return agree_on_skeleton(pred, gt, **({"skeleton": None, "hips": None, "head": None} | asked))  # type: ignore[arg-type]


def test_by_count_and_said_so() -> None:
    body, _, _, notes = agree(poses(17), poses(17, path="g.npy"))
    assert body is COCO_17
    assert notes == ["g.npy: 17 joints taken as coco-17; say --skeleton if they are not"]
    assert agree(poses(17), poses(17), skeleton="h36m-17")[0] is H36M_17
    assert agree(poses(33), poses(33, skeleton="mediapipe-33"))[3] == []


def test_different_joint_counts() -> None:
    with pytest.raises(InputError, match="p.npy: has 21 joints and coco-17 has 17"):
        agree(poses(21, path="p.npy"), poses(17))
    with pytest.raises(InputError, match="g.npy: 20 joints fit no named skeleton.*--hips L,R"):
        agree(poses(20), poses(20, path="g.npy"))
    with pytest.raises(InputError, match="has 25 joints and h36m-17 has 17"):
        agree(poses(25), poses(25), skeleton="h36m-17")


def test_joints_are_picked_by_name() -> None:
    body, pred, gt, notes = agree(poses(33, path="p.npz", visibility=np.ones((1, 33))), poses(17), skeleton="coco-17")
    assert body is COCO_17 and pred.points.shape == (1, 17, 2) and gt.points.shape == (1, 17, 2)
    # COCO's left hip, 11, is MediaPipe's 23: x = 2 · 23.
    assert pred.points[0, 11].tolist() == [46.0, 47.0]
    assert pred.visibility is not None and pred.visibility.shape == (1, 17)
    assert notes == ["p.npz: the 17 joints of coco-17 picked by name out of mediapipe-33"]


def test_a_wrong_name_is_found_out_by_the_file_s_own_names() -> None:
    with pytest.raises(InputError, match="joint 0 is called 'nose', which h36m-17 calls 'pelvis'"):
        agree(poses(17), poses(17, joint_names=COCO_17.joints), skeleton="h36m-17")


def test_hips_and_head_by_index() -> None:
    body, *_ = agree(poses(20), poses(20), hips=(3, 4), head=(0, 1))
    assert body == indexed_skeleton(20, (3, 4), (0, 1))
    with pytest.raises(InputError, match="not both"):
        agree(poses(17), poses(17), skeleton="coco-17", hips=(1, 2))
    changed, *_ = agree(poses(17), poses(17), head=(0, 5))
    assert parse_norms(["head-size"], changed)[0].label() == "head-size(0-5)"  # type: ignore[arg-type]


def test_pictures_of_two_sizes() -> None:
    with pytest.raises(InputError, match="512×512 and b.mp4 640×360"):
        agree(poses(33, size=(512, 512)), poses(33, size=(640, 360), path="b.mp4"))


def test_two_against_three_dimensions() -> None:
    flat, deep = poses(17, path="p.npy"), poses(17, columns=3, path="g.npy")
    with pytest.raises(InputError, match="p.npy is 2-D and g.npy 3-D; --dims 2"):
        same_dims(flat, deep, None)
    assert [side.points.shape[2] for side in same_dims(flat, deep, 2)] == [2, 2]
    assert [side.points.shape[2] for side in same_dims(deep, deep, None)] == [3, 3]
    with pytest.raises(InputError, match="--dims 3 needs a third"):
        same_dims(flat, flat, 3)


def test_normalisations_by_name() -> None:
    norms = parse_norms(["all", "torso-or-bbox", "head-size", "torso-diameter"], MEDIAPIPE_33, px=4)
    assert [n.label() for n in norms] == [
        "torso-diameter",
        "bbox-diagonal",
        "absolute-px(4)",
        "torso-or-bbox",
        "head-size(7-8)",
    ]
    assert norms[0].left_hip == 23  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torso", "no normalisation is called 'torso'; choose from torso-diameter"),
        ("absolute-px=0", "above 0"),
        ("absolute-px=x", "above 0"),
        ("absolute-px=inf", "above 0"),
        ("head-size", "give --head A,B"),
    ],
)
def test_normalisations_that_are_none(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_norms([name], indexed_skeleton(20, (3, 4)))
