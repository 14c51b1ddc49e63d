"""Named skeletons: the joints people expect at the indices they expect."""

from __future__ import annotations

import pytest

from rushes.core.errors import InputError
from rushes.instruments.pose.files.skeletons import SKELETONS, indexed_skeleton, named_skeleton, skeleton_of


@pytest.mark.parametrize(
    ("name", "joints", "hips", "head"),
    [
        ("coco-17", 17, (11, 12), (3, 4)),
        ("mediapipe-33", 33, (23, 24), (7, 8)),
        ("openpose-25", 25, (12, 9), (18, 17)),
        ("h36m-17", 17, (4, 1), (8, 10)),
    ],
)
def test_hips_and_head(name: str, joints: int, hips: tuple[int, int], head: tuple[int, int]) -> None:
    skeleton = named_skeleton(name)
    assert (len(skeleton.joints), skeleton.hips, skeleton.head) == (joints, hips, head)
    assert [skeleton.joints[j] for j in skeleton.hips] == ["left_hip", "right_hip"]


@pytest.mark.parametrize("name", SKELETONS)
def test_every_joint_can_be_drawn_and_has_its_mirror(name: str) -> None:
    skeleton = named_skeleton(name)
    assert len(skeleton.layout) == len(skeleton.joints) == len(set(skeleton.joints))
    assert {joint for bone in skeleton.bones for joint in bone} == set(range(len(skeleton.joints)))
    places = dict(zip(skeleton.joints, skeleton.layout, strict=True))
    for joint, (x, y) in places.items():
        if joint.startswith("left"):
            assert places[joint.replace("left", "right")] == (-x, y)
    assert len(skeleton.limbs()) >= 4


def test_skeletons_by_count_and_by_index() -> None:
    assert [s.name if (s := skeleton_of(n)) else None for n in (17, 25, 33, 20)] == [
        "coco-17",
        "openpose-25",
        "mediapipe-33",
        None,
    ]
    own = indexed_skeleton(20, (3, 4), (0, 1))
    assert (own.name, own.joints[3], own.hips, own.head) == ("20-joints.hips-3-4", "joint_3", (3, 4), (0, 1))


@pytest.mark.parametrize("hips", [(3, 3), (-1, 2), (2, 20)])
def test_hips_that_cannot_be(hips: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="two different joints from 0 to 19"):
        indexed_skeleton(20, hips)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="coco-17, mediapipe-33, openpose-25, h36m-17"):
        named_skeleton("coco")
