"""Named skeletons: joint names, which joints are hips and head, the bones, and where to draw each joint.

`layout` is a standing figure seen from the front, x to the viewer's right and y down, about 2 units tall: the person's
left side is drawn on the viewer's right. It is for pictures only; no number depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from rushes.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """A set of joints in a fixed order."""

    name: str
    joints: tuple[str, ...]
    hips: tuple[int, int]
    """Left, right."""
    head: tuple[int, int] | None
    """The two joints whose distance is the head's size for PCKh."""
    bones: tuple[tuple[int, int], ...] = ()
    layout: tuple[tuple[float, float], ...] = ()

    def limbs(self) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
        """Bones of the left side, each with its mirror on the right."""
        index = {name: number for number, name in enumerate(self.joints)}
        left = [
            (a, b) for a, b in self.bones if self.joints[a].startswith("left") and self.joints[b].startswith("left")
        ]
        mirror = [tuple(index[self.joints[j].replace("left", "right", 1)] for j in bone) for bone in left]
        return tuple((bone, (other[0], other[1])) for bone, other in zip(left, mirror, strict=True))


def _skeleton(
    name: str,
    places: str,
    *,
    hips: tuple[str, str],
    head: tuple[str, str],
    bones: str,
) -> Skeleton:
    """A skeleton from a text table: `joint x y` per joint, and chains of joints `a-b-c` as bones."""
    rows = [row.split() for row in places.strip().splitlines()]
    joints = tuple(row[0] for row in rows)
    index = {joint: number for number, joint in enumerate(joints)}
    chains = [[index[joint] for joint in chain.split("-")] for chain in bones.split()]
    return Skeleton(
        name=name,
        joints=joints,
        hips=(index[hips[0]], index[hips[1]]),
        head=(index[head[0]], index[head[1]]),
        bones=tuple(pair for chain in chains for pair in zip(chain, chain[1:], strict=False)),
        layout=tuple((float(row[1]), float(row[2])) for row in rows),
    )


_LIMBS = (
    "left_shoulder-left_elbow-left_wrist right_shoulder-right_elbow-right_wrist "
    "left_hip-left_knee-left_ankle right_hip-right_knee-right_ankle "
)

COCO_17 = _skeleton(
    "coco-17",
    """
    nose 0 0.16
    left_eye 0.06 0.10
    right_eye -0.06 0.10
    left_ear 0.13 0.13
    right_ear -0.13 0.13
    left_shoulder 0.28 0.42
    right_shoulder -0.28 0.42
    left_elbow 0.42 0.72
    right_elbow -0.42 0.72
    left_wrist 0.50 1.00
    right_wrist -0.50 1.00
    left_hip 0.17 1.00
    right_hip -0.17 1.00
    left_knee 0.20 1.45
    right_knee -0.20 1.45
    left_ankle 0.22 1.90
    right_ankle -0.22 1.90
    """,
    hips=("left_hip", "right_hip"),
    head=("left_ear", "right_ear"),
    bones=_LIMBS
    + "left_ear-left_eye-nose-right_eye-right_ear "
    + "left_shoulder-right_shoulder-right_hip-left_hip-left_shoulder",
)
MEDIAPIPE_33 = _skeleton(
    "mediapipe-33",
    """
    nose 0 0.16
    left_eye_inner 0.03 0.10
    left_eye 0.06 0.10
    left_eye_outer 0.09 0.10
    right_eye_inner -0.03 0.10
    right_eye -0.06 0.10
    right_eye_outer -0.09 0.10
    left_ear 0.14 0.13
    right_ear -0.14 0.13
    left_mouth 0.04 0.23
    right_mouth -0.04 0.23
    left_shoulder 0.28 0.42
    right_shoulder -0.28 0.42
    left_elbow 0.42 0.72
    right_elbow -0.42 0.72
    left_wrist 0.50 1.00
    right_wrist -0.50 1.00
    left_pinky 0.57 1.11
    right_pinky -0.57 1.11
    left_index 0.51 1.14
    right_index -0.51 1.14
    left_thumb 0.46 1.07
    right_thumb -0.46 1.07
    left_hip 0.17 1.00
    right_hip -0.17 1.00
    left_knee 0.20 1.45
    right_knee -0.20 1.45
    left_ankle 0.22 1.88
    right_ankle -0.22 1.88
    left_heel 0.17 1.95
    right_heel -0.17 1.95
    left_foot_index 0.33 1.97
    right_foot_index -0.33 1.97
    """,
    hips=("left_hip", "right_hip"),
    head=("left_ear", "right_ear"),
    bones=_LIMBS
    + "left_ear-left_eye_outer-left_eye-left_eye_inner-nose-right_eye_inner-right_eye-right_eye_outer-right_ear "
    + "left_mouth-right_mouth left_shoulder-right_shoulder-right_hip-left_hip-left_shoulder "
    + "left_wrist-left_pinky-left_index-left_wrist-left_thumb "
    + "right_wrist-right_pinky-right_index-right_wrist-right_thumb "
    + "left_ankle-left_heel-left_foot_index-left_ankle right_ankle-right_heel-right_foot_index-right_ankle",
)
OPENPOSE_25 = _skeleton(
    "openpose-25",
    """
    nose 0 0.16
    neck 0 0.42
    right_shoulder -0.28 0.42
    right_elbow -0.42 0.72
    right_wrist -0.50 1.00
    left_shoulder 0.28 0.42
    left_elbow 0.42 0.72
    left_wrist 0.50 1.00
    mid_hip 0 1.00
    right_hip -0.17 1.00
    right_knee -0.20 1.45
    right_ankle -0.22 1.88
    left_hip 0.17 1.00
    left_knee 0.20 1.45
    left_ankle 0.22 1.88
    right_eye -0.06 0.10
    left_eye 0.06 0.10
    right_ear -0.13 0.13
    left_ear 0.13 0.13
    left_big_toe 0.30 1.97
    left_small_toe 0.38 1.95
    left_heel 0.17 1.95
    right_big_toe -0.30 1.97
    right_small_toe -0.38 1.95
    right_heel -0.17 1.95
    """,
    hips=("left_hip", "right_hip"),
    head=("left_ear", "right_ear"),
    bones=_LIMBS
    + "left_ear-left_eye-nose-right_eye-right_ear nose-neck-mid_hip left_shoulder-neck-right_shoulder "
    + "left_hip-mid_hip-right_hip left_ankle-left_heel left_ankle-left_big_toe-left_small_toe "
    + "right_ankle-right_heel right_ankle-right_big_toe-right_small_toe",
)
H36M_17 = _skeleton(
    "h36m-17",
    """
    pelvis 0 1.00
    right_hip -0.17 1.00
    right_knee -0.20 1.45
    right_ankle -0.22 1.90
    left_hip 0.17 1.00
    left_knee 0.20 1.45
    left_ankle 0.22 1.90
    spine 0 0.72
    thorax 0 0.42
    nose 0 0.22
    head_top 0 0.02
    left_shoulder 0.28 0.42
    left_elbow 0.42 0.72
    left_wrist 0.50 1.00
    right_shoulder -0.28 0.42
    right_elbow -0.42 0.72
    right_wrist -0.50 1.00
    """,
    hips=("left_hip", "right_hip"),
    head=("thorax", "head_top"),
    bones=_LIMBS + "pelvis-spine-thorax-nose-head_top left_hip-pelvis-right_hip left_shoulder-thorax-right_shoulder",
)

SKELETONS = {s.name: s for s in (COCO_17, MEDIAPIPE_33, OPENPOSE_25, H36M_17)}


def named_skeleton(name: str) -> Skeleton:
    """The skeleton of this name; `InputError` lists the names there are."""
    if name not in SKELETONS:
        raise InputError(f"no skeleton is called {name!r}; there are {', '.join(SKELETONS)}; or give --hips L,R")
    return SKELETONS[name]


def indexed_skeleton(joints: int, hips: tuple[int, int], head: tuple[int, int] | None = None) -> Skeleton:
    """A skeleton nobody named: joints by number, hips (and head) by index."""
    for what, pair in (("hips", hips), ("head", head)):
        if pair is not None and (pair[0] == pair[1] or not all(0 <= joint < joints for joint in pair)):
            raise InputError(f"{what} are two different joints from 0 to {joints - 1}; got {pair[0]},{pair[1]}")
    label = f"{joints}-joints.hips-{hips[0]}-{hips[1]}"
    return Skeleton(name=label, joints=tuple(f"joint_{n}" for n in range(joints)), hips=hips, head=head)


def skeleton_of(joints: int) -> Skeleton | None:
    """The skeleton taken for this many joints when none is named: coco-17, openpose-25 or mediapipe-33."""
    return {17: COCO_17, 25: OPENPOSE_25, 33: MEDIAPIPE_33}.get(joints)
