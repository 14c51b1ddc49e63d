"""Bringing two pose files to one skeleton and one number of dimensions, or saying why that cannot be done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushes.errors import InputError
from rushes.pose.poses import PoseSet
from rushes.pose.skeletons import SKELETONS, Skeleton, indexed_skeleton, named_skeleton, skeleton_of


def agree_on_skeleton(
    pred: PoseSet,
    gt: PoseSet,
    *,
    skeleton: str | None,
    hips: tuple[int, int] | None,
    head: tuple[int, int] | None,
) -> tuple[Skeleton, PoseSet, PoseSet, list[str]]:
    """The skeleton both sides are read with; joints are picked by name where a larger named skeleton allows it."""
    notes: list[str] = []
    if hips is not None:
        if skeleton is not None:
            raise InputError("give --skeleton or --hips, not both")
        body = indexed_skeleton(gt.joints, hips, head)
    else:
        body = _named(skeleton, gt, notes)
        body = body if head is None else replace(body, head=indexed_skeleton(gt.joints, body.hips, head).head)
    sides = []
    for side in (pred, gt):
        picked, note = _pick_joints(side, body)
        sides.append(picked)
        notes += note
    if pred.size and gt.size and pred.size != gt.size:
        raise InputError(
            f"{pred.path} is {pred.size[0]}×{pred.size[1]} and {gt.path} {gt.size[0]}×{gt.size[1]}: "
            "key points are in pixels, so the pictures must have one size; scale one of them first"
        )
    return body, sides[0], sides[1], notes


def _named(skeleton: str | None, gt: PoseSet, notes: list[str]) -> Skeleton:
    if skeleton is not None:
        return named_skeleton(skeleton)
    if gt.skeleton is not None:
        return named_skeleton(gt.skeleton)
    body = skeleton_of(gt.joints)
    if body is None:
        raise InputError(
            f"{gt.path}: {gt.joints} joints fit no named skeleton ({', '.join(SKELETONS)}); "
            "say where the hips are: --hips L,R"
        )
    if gt.joint_names is None:
        notes.append(f"{gt.path}: {gt.joints} joints taken as {body.name}; say --skeleton if they are not")
    return body


def _pick_joints(side: PoseSet, body: Skeleton) -> tuple[PoseSet, list[str]]:
    if side.joints == len(body.joints):
        if side.joint_names is not None and body.name in SKELETONS and side.joint_names != body.joints:
            wrong = next(n for n, name in enumerate(side.joint_names) if name != body.joints[n])
            raise InputError(
                f"{side.path}: joint {wrong} is called {side.joint_names[wrong]!r}, which {body.name} calls "
                f"{body.joints[wrong]!r}; name the skeleton it is, or give --hips L,R"
            )
        return side, []
    whole = SKELETONS.get(side.skeleton or "") or skeleton_of(side.joints)
    if whole is None or not set(body.joints) <= set(whole.joints):
        raise InputError(
            f"{side.path}: has {side.joints} joints and {body.name} has {len(body.joints)}; "
            "both files need the same skeleton: name it with --skeleton, or give --hips L,R"
        )
    order = [whole.joints.index(joint) for joint in body.joints]
    chosen = replace(
        side,
        points=np.asarray(side.points)[:, order],
        visibility=None if side.visibility is None else np.asarray(side.visibility)[:, order],
        joint_names=body.joints,
        skeleton=body.name,
    )
    return chosen, [f"{side.path}: the {len(order)} joints of {body.name} picked by name out of {whole.name}"]


def same_dims(pred: PoseSet, gt: PoseSet, dims: int | None) -> tuple[PoseSet, PoseSet]:
    """Both sides with as many coordinates; 2-D against 3-D only when x and y were asked for."""
    widths = pred.points.shape[2], gt.points.shape[2]
    if dims == 2:
        return replace(pred, points=pred.points[..., :2]), replace(gt, points=gt.points[..., :2])
    if widths[0] != widths[1]:
        raise InputError(f"{pred.path} is {widths[0]}-D and {gt.path} {widths[1]}-D; --dims 2 scores x and y of both")
    if dims == 3 and widths[0] == 2:
        raise InputError(f"{pred.path} and {gt.path} are 2-D; --dims 3 needs a third coordinate")
    return pred, gt
