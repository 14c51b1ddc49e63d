"""Named skeletons: joint names, which joints are hips and head, the bones, and where to draw each joint.

`layout` is a standing figure seen from the front, x to the viewer's right and y down, about 2 units tall: the person's
left side is drawn on the viewer's right. It is for pictures only; no number depends on it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from rushes.core.errors import InputError
from rushes.core.words.options import option


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


def _skeleton(name: str, table: Mapping[str, Any]) -> Skeleton:
    """A skeleton from its table in `skeletons.toml`: `joint x y` per joint, chains of joints `a-b-c` as bones."""
    rows = [row.split() for row in table["joints"].strip().splitlines()]
    joints = tuple(row[0] for row in rows)
    index = {joint: number for number, joint in enumerate(joints)}
    chains = [[index[joint] for joint in chain.split("-")] for chain in (*_LIMBS, *table["bones"])]
    return Skeleton(
        name=name,
        joints=joints,
        hips=(index[table["hips"][0]], index[table["hips"][1]]),
        head=(index[table["head"][0]], index[table["head"][1]]),
        bones=tuple(pair for chain in chains for pair in zip(chain, chain[1:], strict=False)),
        layout=tuple((float(row[1]), float(row[2])) for row in rows),
    )


_LIMBS = tuple(
    f"{side}_{a}-{side}_{b}-{side}_{c}"
    for a, b, c in (("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle"))
    for side in ("left", "right")
)
_TABLES = tomllib.loads((files("rushes.instruments.pose.files") / "skeletons.toml").read_text(encoding="utf-8"))
SKELETONS = {name: _skeleton(name, table) for name, table in _TABLES.items()}
COCO_17, MEDIAPIPE_33, OPENPOSE_25, H36M_17 = SKELETONS.values()


def named_skeleton(name: str) -> Skeleton:
    """The skeleton of this name; `InputError` lists the names there are."""
    if name not in SKELETONS:
        raise InputError(
            f"no skeleton is called {name!r}; there are {', '.join(SKELETONS)}; or give {option('--hips L,R')}"
        )
    return SKELETONS[name]


def indexed_skeleton(
    joints: int, hips: tuple[int, int], head: tuple[int, int] | None = None, *, of: str | None = None
) -> Skeleton:
    """A skeleton nobody named: joints by number, hips (and head) by index. `of` is what the files call their joints.

    >>> indexed_skeleton(20, (3, 4)).name, indexed_skeleton(17, (5, 6), of="h36m-17").name
    ('20-joints.hips-3-4', 'h36m-17.hips-5-6')
    """
    for what, pair in (("hips", hips), ("head", head)):
        if pair is not None and (pair[0] == pair[1] or not all(0 <= joint < joints for joint in pair)):
            raise InputError(f"{what} are two different joints from 0 to {joints - 1}; got {pair[0]},{pair[1]}")
    label = f"{of or f'{joints}-joints'}.hips-{hips[0]}-{hips[1]}"
    return Skeleton(name=label, joints=tuple(f"joint_{n}" for n in range(joints)), hips=hips, head=head)


def skeleton_of(joints: int) -> Skeleton | None:
    """The skeleton taken for this many joints when none is named: coco-17, openpose-25 or mediapipe-33."""
    return {17: COCO_17, 25: OPENPOSE_25, 33: MEDIAPIPE_33}.get(joints)
