"""Putting two pose files together: one skeleton, one number of dimensions, and which prediction belongs to which truth.

Frames pair by image id where both sides have ids, else by order. What cannot be put together is an `InputError`; what
has no partner is counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.pose.files.batch import Numbers, PoseSet
from rushes.instruments.pose.files.skeletons import SKELETONS, Skeleton, indexed_skeleton, named_skeleton, skeleton_of

Unmatched: TypeAlias = Literal["skip", "wrong"]

UNITS = ("px", "mm", "cm", "m", "normalised", "as-given")
"""Of coordinates. Anything but these would be a word in a signature that nobody can rely on."""


def agree_on_skeleton(
    pred: PoseSet,
    gt: PoseSet,
    *,
    skeleton: str | None,
    hips: tuple[int, int] | None,
    head: tuple[int, int] | None,
) -> tuple[Skeleton, PoseSet, PoseSet, list[str]]:
    """The skeleton both sides are read with; joints are picked by name where a larger named skeleton allows it.

    A file that says which skeleton it has is taken at its word: two files that say different ones, or a `skeleton` that
    contradicts one of them, are an `InputError` unless every joint that is scored has its namesake in both.
    """
    notes: list[str] = []
    if hips is not None:
        if skeleton is not None:
            raise InputError(f"give {option('--skeleton')} or {option('--hips')}, not both")
        if pred.skeleton and gt.skeleton and pred.skeleton != gt.skeleton:
            raise InputError(
                f"{pred.path} says its joints are {pred.skeleton} and {gt.path} {gt.skeleton}; both need "
                f"one skeleton: name one that both contain with {option('--skeleton')}"
            )
        body = indexed_skeleton(gt.joints, hips, head, of=gt.skeleton or pred.skeleton)
    else:
        for side in (pred, gt):
            if side.skeleton is not None and side.skeleton not in SKELETONS:
                raise InputError(
                    f"{side.path}: says its joints are {side.skeleton!r}; known are {', '.join(SKELETONS)}; "
                    f"for another skeleton give {option('--hips L,R')}"
                )
        body = _named(skeleton, gt, notes)
        body = body if head is None else replace(body, head=indexed_skeleton(gt.joints, body.hips, head).head)
    sides = []
    for side in (pred, gt):
        picked, note = _pick_joints(side, body)
        sides.append(picked)
        notes += note
    return body, sides[0], sides[1], notes


def _named(skeleton: str | None, gt: PoseSet, notes: list[str]) -> Skeleton:
    if skeleton is not None:
        return named_skeleton(skeleton)
    if gt.skeleton is not None:
        return named_skeleton(gt.skeleton)
    body = skeleton_of(gt.joints)
    if body is None:
        raise InputError(
            f"{gt.path}: {gt.joints} joints match no known skeleton ({', '.join(SKELETONS)}); "
            f"say where the hips are: {option('--hips L,R')}"
        )
    if gt.joint_names is None:
        notes.append(f"{gt.path}: {gt.joints} joints taken as {body.name}; give --skeleton if they are not")
    return body


def _pick_joints(side: PoseSet, body: Skeleton) -> tuple[PoseSet, list[str]]:
    declared = SKELETONS.get(side.skeleton or "") if body.name in SKELETONS else None
    if declared is not None and declared.name != body.name and side.joints == len(declared.joints):
        lacking = [joint for joint in body.joints if joint not in declared.joints]
        if lacking:
            raise InputError(
                f"{side.path}: says its joints are {declared.name}, which has no {lacking[0]}; {body.name} was to be "
                f"scored: give {option('--skeleton')} with one that both files hold, or convert one of them"
            )
    elif side.joints == len(body.joints):
        if side.joint_names is not None and body.name in SKELETONS and side.joint_names != body.joints:
            wrong = next(n for n, name in enumerate(side.joint_names) if name != body.joints[n])
            raise InputError(
                f"{side.path}: joint {wrong} is called {side.joint_names[wrong]!r}, which {body.name} calls "
                f"{body.joints[wrong]!r}; name the skeleton it is, or give {option('--hips L,R')}"
            )
        return side, []
    whole = declared or skeleton_of(side.joints)
    if whole is None or not set(body.joints) <= set(whole.joints):
        raise InputError(
            f"{side.path}: has {side.joints} joints and {body.name} has {len(body.joints)}; "
            f"both files need the same skeleton: name it with {option('--skeleton')}, or give {option('--hips L,R')}"
        )
    order = [whole.joints.index(joint) for joint in body.joints]
    chosen = replace(
        side,
        points=np.asarray(side.points)[:, order],
        visibility=None if side.visibility is None else np.asarray(side.visibility)[:, order],
        joint_names=body.joints,
        skeleton=body.name,
        picked_from=whole.name,
    )
    return chosen, [f"{side.path}: the {len(order)} joints of {body.name} picked by name out of {whole.name}"]


def same_dims(pred: PoseSet, gt: PoseSet, dims: int | None) -> tuple[PoseSet, PoseSet]:
    """Both sides with as many coordinates; 2-D against 3-D only when x and y were asked for."""
    widths = pred.points.shape[2], gt.points.shape[2]
    if dims == 2:
        return replace(pred, points=pred.points[..., :2]), replace(gt, points=gt.points[..., :2])
    if widths[0] != widths[1]:
        raise InputError(
            f"{pred.path} is {widths[0]}-D and {gt.path} {widths[1]}-D; {option('--dims 2')} scores x and y of both"
        )
    if dims == 3 and widths[0] == 2:
        raise InputError(f"{pred.path} and {gt.path} are 2-D; {option('--dims 3')} needs a third coordinate")
    return pred, gt


def one_size(pred: PoseSet, gt: PoseSet, *, scale: bool) -> tuple[PoseSet, tuple[str, ...]]:
    """The prediction in pictures of the truth's size: refused where they differ, or scaled, x and y each by itself."""
    if not scale:
        if pred.size and gt.size and pred.size != gt.size:
            raise InputError(
                f"{pred.path} is {pred.size[0]}×{pred.size[1]} and {gt.path} {gt.size[0]}×{gt.size[1]}: key points are "
                f"in pixels, so the pictures must have one size; {option('--fit scale')} scales the prediction to the "
                "truth's"
            )
        return pred, ()
    if pred.size is None or gt.size is None or min(*pred.size, *gt.size) < 1:
        bare = gt if pred.size is not None and min(pred.size) >= 1 else pred
        raise InputError(
            f"{bare.path}: does not give the size of its pictures (`size`), which {option('--fit scale')} needs"
        )
    if pred.points.shape[2] == 3:
        raise InputError(
            f"{pred.path}: is 3-D; {option('--fit scale')} is about pixels: score x and y with {option('--dims 2')}"
        )
    if pred.size == gt.size:
        return pred, ()
    factors = gt.size[0] / pred.size[0], gt.size[1] / pred.size[1]
    notes = [f"{pred.path}: scaled from {pred.size[0]}×{pred.size[1]} to {gt.size[0]}×{gt.size[1]}"]
    if abs(factors[0] / factors[1] - 1) > 0.01:
        notes.append(f"{pred.path}: the pictures have another shape than those of {gt.path}; bodies are stretched")
    points = np.asarray(pred.points, dtype=np.float64) * np.array(factors)
    return replace(pred, points=points, size=gt.size), tuple(notes)


def common_unit(pred: PoseSet, gt: PoseSet, asked: str | None) -> str:
    """The unit of both sides' coordinates; `InputError` for one nobody knows, and where files contradict."""
    for what, unit in (("--unit", asked), (pred.path, pred.unit), (gt.path, gt.unit)):
        if unit is not None and unit not in UNITS:
            raise InputError(f"{what}: a unit is one of {', '.join(UNITS)}; got {unit!r}")
    if pred.unit and gt.unit and pred.unit != gt.unit:
        raise InputError(f"{pred.path} is in {pred.unit} and {gt.path} in {gt.unit}; convert one of them first")
    for side in (pred, gt):
        if asked and side.unit and side.unit != asked:
            raise InputError(
                f"{side.path}: is in {side.unit}, and {option(f'--unit {asked}')} was given; convert the file first"
            )
    return asked or gt.unit or pred.unit or "as-given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Pairs of frames. `pred` and `gt` are indices (or a leading slice, which keeps a memory-mapped file mapped).

    A prediction of −1 is a truth nobody predicted, kept because unmatched truths were to count as wrong.
    """

    by: Literal["image id", "order", "time", "dtw"]
    pred: NDArray[np.int64] | slice
    gt: NDArray[np.int64] | slice
    frames: int
    pred_only: tuple[str, ...]
    """Frames of the prediction that no truth was found for."""
    gt_only: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "matched_by": self.by,
            "frames": self.frames,
            "pred_unmatched": len(self.pred_only),
            "gt_unmatched": len(self.gt_only),
        }

    def warnings(self, pred: PoseSet, gt: PoseSet, unmatched: Unmatched) -> list[str]:
        found = []
        for path, names, other in ((pred.path, self.pred_only, gt.path), (gt.path, self.gt_only, pred.path)):
            if names:
                fate = "counted as wrong" if path == gt.path and unmatched == "wrong" else "not scored"
                found.append(f"{path}: {len(names)} poses without a match in {other} ({_first(names)}): {fate}")
        return found

    def take(self, points: Numbers, side: Literal["pred", "gt"]) -> Numbers:
        """The rows of one side in pair order; NaN for a truth nobody predicted."""
        chosen = self.pred if side == "pred" else self.gt
        rows = points[chosen]
        if not isinstance(chosen, slice) and (chosen < 0).any():
            rows = np.where((chosen < 0).reshape(-1, *[1] * (points.ndim - 1)), np.nan, rows)
        return rows


def pair_frames(pred: PoseSet, gt: PoseSet, *, unmatched: Unmatched = "skip") -> Pairing:
    """Pair two files. `InputError` when nothing pairs."""
    if pred.ids is None or gt.ids is None:
        return _by_order(pred, gt, unmatched)
    return _by_id(pred, gt, pred.ids, gt.ids, unmatched)


def _by_order(pred: PoseSet, gt: PoseSet, unmatched: Unmatched) -> Pairing:
    both = min(len(pred), len(gt))
    pred_only = tuple(pred.frame_name(n) for n in range(both, len(pred)))
    gt_only = tuple(gt.frame_name(n) for n in range(both, len(gt)))
    chosen: NDArray[np.int64] | slice = slice(0, both)
    truths = slice(0, both)
    if unmatched == "wrong" and gt_only:
        chosen = np.concatenate([np.arange(both), np.full(len(gt_only), -1)]).astype(np.int64)
        truths = slice(0, len(gt))
    frames = len(gt) if unmatched == "wrong" else both
    return Pairing(by="order", pred=chosen, gt=truths, frames=frames, pred_only=pred_only, gt_only=gt_only)


def _by_id(
    pred: PoseSet, gt: PoseSet, pred_ids: Sequence[Hashable], gt_ids: Sequence[Hashable], unmatched: Unmatched
) -> Pairing:
    if tuple(pred_ids) == tuple(gt_ids):
        every = slice(0, len(gt))
        return Pairing(by="image id", pred=every, gt=every, frames=len(gt), pred_only=(), gt_only=())
    place = {key: number for number, key in enumerate(pred_ids)}
    known = set(gt_ids)
    pairs = [(place.get(key, -1), number) for number, key in enumerate(gt_ids)]
    if not any(p >= 0 for p, _ in pairs):
        raise InputError(
            f"{pred.path} and {gt.path}: no image id is in both (the first are {pred_ids[0]!r} and {gt_ids[0]!r})"
        )
    kept = [pair for pair in pairs if pair[0] >= 0 or unmatched == "wrong"]
    return Pairing(
        by="image id",
        pred=np.array([p for p, _ in kept], dtype=np.int64),
        gt=np.array([g for _, g in kept], dtype=np.int64),
        frames=len(kept),
        pred_only=tuple(pred.frame_name(n) for n, key in enumerate(pred_ids) if key not in known),
        gt_only=tuple(gt.frame_name(g) for p, g in pairs if p < 0),
    )


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
