"""What a reader must know about a scored pair: what looks wrong in the poses, and one line about each finding.

Nothing here changes a score. Each finding is counted, and its first frame and joint named, so that a user can look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rushes.instruments.pose.files.batch import Chunk, PoseSet
from rushes.instruments.pose.files.skeletons import SKELETONS, Skeleton
from rushes.instruments.pose.pairing.files import Pairing, Unmatched
from rushes.instruments.pose.scores.geometry import Flags, Floats, joint_distances
from rushes.instruments.pose.scores.joint_errors import Summed
from rushes.instruments.pose.scores.normalization import PckNormalization

HUGE = 1e9
"""Coordinates beyond this are neither pixels nor millimetres."""
JUMP_TORSOS = 2.0
"""Hip spans that the hips' middle moves from one frame to the next, and more than the trunk's length, in a leap."""
NARROW = 0.15
"""A hip span below this share of the trunk's length: the body is seen from the side."""
_LOPSIDED = 0.25
"""Mean |ln(left/right)| of paired limbs above which another skeleton is considered, if it is three times as even."""


@dataclass(frozen=True, slots=True)
class Finding:
    """How often something was seen, and where first: frame and joint, by number."""

    count: int = 0
    first: tuple[int, int] | None = None

    def __add__(self, other: Finding) -> Finding:
        return Finding(self.count + other.count, self.first if self.first is not None else other.first)


@dataclass(frozen=True, slots=True)
class Checks(Summed):
    """Findings of some frames; `a + b` continues a with b."""

    truth_unplaced: Finding = Finding()
    """Visible joints of the ground truth without a finite place."""
    pred_missing: Finding = Finding()
    pred_blank: Finding = Finding()
    """Predictions written as zeros with confidence 0: not found, and so missing."""
    pred_origin: Finding = Finding()
    """2-D predictions at exactly 0, 0 with nothing that says whether they were found."""
    pred_huge: Finding = Finding()
    truth_huge: Finding = Finding()
    hips_seen: int = 0
    hips_swapped: Finding = Finding()
    """Frames whose predicted hips fit better with left and right exchanged."""
    pred_jumps: Finding = Finding()
    truth_jumps: Finding = Finding()
    """Frames whose hips leap further than a body moves, where frames are consecutive."""
    narrow: Finding = Finding()
    """True bodies whose hips are almost in one place, measured by the trunk."""
    largest: float = 0.0
    """The largest finite coordinate of a visible true joint, without its sign."""
    limbs: tuple[tuple[str, float, int], ...] = ()
    """(skeleton, sum of |ln(left/right)|, limbs) for each skeleton with this many joints."""

    def __add__(self, other: Checks) -> Checks:
        pairs = zip(self.limbs or [(n, 0.0, 0) for n, _, _ in other.limbs], other.limbs, strict=True)
        limbs = tuple((name, a + b, m + n) for (name, a, m), (_, b, n) in pairs)
        return replace(Summed.__add__(self, other), largest=max(self.largest, other.largest), limbs=limbs)

    def better_skeleton(self, used: str) -> str | None:
        """Another skeleton with as many joints whose limbs are far more alike, left and right."""
        means = {name: total / number for name, total, number in self.limbs if number}
        best = min(means, key=lambda name: means[name], default=used)
        wrong = best != used and means.get(used, 0.0) > max(_LOPSIDED, 3 * means[best])
        return best if wrong else None


def check_chunk(chunk: Chunk, skeleton: Skeleton, *, sequence: bool = False) -> Checks:
    """Look through one piece of a batch; leaps only within it, and where frames are consecutive."""
    placed_pred, placed_gt = (_placed(points) for points in (chunk.pred, chunk.gt))
    leaps = [
        _find(jumps(points, seen, skeleton)[:, np.newaxis], chunk.start) if sequence else Finding()
        for points, seen in ((chunk.pred, placed_pred), (chunk.gt, chunk.visible & placed_gt))
    ]
    return Checks(
        _find(chunk.visible & ~placed_gt, chunk.start),
        _find(chunk.visible & ~placed_pred, chunk.start),
        Finding() if chunk.blank is None else _find(chunk.visible & chunk.blank, chunk.start),
        _find(chunk.visible & _origin(chunk), chunk.start),
        _find(_huge(chunk.pred), chunk.start),
        _find(chunk.visible & _huge(chunk.gt), chunk.start),
        *_hips(chunk, skeleton),
        leaps[0],
        leaps[1],
        _find(narrow(chunk.gt, chunk.visible & placed_gt, skeleton)[:, np.newaxis], chunk.start),
        float(np.abs(chunk.gt[chunk.visible & placed_gt]).max(initial=0.0)),
        _limbs(chunk),
    )


def _find(flags: Flags, start: int) -> Finding:
    count = int(np.count_nonzero(flags))
    if not count:
        return Finding()
    frame, joint = np.unravel_index(int(np.argmax(flags)), flags.shape)
    return Finding(count, (start + int(frame), int(joint)))


def _placed(points: Floats) -> Flags:
    """Joints with a finite place. Column by column: much quicker than `all` over an axis of two."""
    placed: Flags = np.logical_and.reduce([np.isfinite(points[..., column]) for column in range(points.shape[2])])
    return placed


def _origin(chunk: Chunk) -> Flags:
    """2-D predictions at 0, 0 while the truth is elsewhere; in space 0, 0, 0 is often the root."""
    if chunk.columns == 3:
        return np.zeros(chunk.visible.shape, dtype=bool)
    nowhere: Flags = (chunk.pred[..., 0] == 0) & (chunk.pred[..., 1] == 0)
    if nowhere.any():
        nowhere &= (chunk.gt[..., 0] != 0) | (chunk.gt[..., 1] != 0)
    return nowhere


def _huge(points: Floats) -> Flags:
    """Joints with a finite coordinate beyond `HUGE`."""
    with np.errstate(invalid="ignore"):
        beyond = np.abs(points) > HUGE
    if not beyond.any():
        return np.zeros(points.shape[:2], dtype=bool)
    return np.asarray((beyond & np.isfinite(points)).any(axis=2))


def _hips(chunk: Chunk, skeleton: Skeleton) -> tuple[int, Finding]:
    left, right = skeleton.hips
    seen = chunk.visible[:, left] & chunk.visible[:, right]

    def apart(one: int, other: int) -> Floats:
        return joint_distances(chunk.pred[:, one], chunk.gt[:, other], columns=2)

    with np.errstate(invalid="ignore"):
        direct, crossed = apart(left, left) + apart(right, right), apart(left, right) + apart(right, left)
        swapped = seen & (crossed < direct)
    return int(np.count_nonzero(seen)), _find(swapped[:, np.newaxis], chunk.start)


def _limbs(chunk: Chunk) -> tuple[tuple[str, float, int], ...]:
    found = []
    for skeleton in SKELETONS.values():
        if len(skeleton.joints) == chunk.gt.shape[1]:
            total, number = 0.0, 0
            for left, right in skeleton.limbs():
                ratio = _log_ratio(chunk, left, right)
                total, number = total + float(ratio.sum()), number + len(ratio)
            found.append((skeleton.name, total, number))
    return tuple(found)


def _log_ratio(chunk: Chunk, left: tuple[int, int], right: tuple[int, int]) -> Floats:
    seen = chunk.visible[:, [*left, *right]].all(axis=1)
    lengths = [joint_distances(chunk.gt[seen, a], chunk.gt[seen, b], columns=2) for a, b in (left, right)]
    usable = (lengths[0] > 0) & (lengths[1] > 0) & np.isfinite(lengths[0]) & np.isfinite(lengths[1])
    return np.abs(np.log(lengths[0][usable] / lengths[1][usable]))


def jumps(points: Floats, seen: Flags, skeleton: Skeleton) -> Flags:
    """Frames whose hips lie further from those of the frame before than a body moves; the first never does."""
    left, right = skeleton.hips
    with np.errstate(invalid="ignore", over="ignore"):
        middle = (points[:, left] + points[:, right]) / 2
        step = joint_distances(middle[1:], middle[:-1], columns=2)
        span, trunk = _lengths(points, skeleton)
        limit = np.maximum(JUMP_TORSOS * span, np.nan_to_num(trunk))
        leaps = step > np.maximum(limit[1:], limit[:-1])
    both = seen[:, left] & seen[:, right]
    found = np.zeros(len(points), dtype=bool)
    found[1:] = leaps & both[1:] & both[:-1]
    return found


def narrow(points: Floats, seen: Flags, skeleton: Skeleton) -> Flags:
    """Frames whose hips are so close together, measured by the trunk, that the body stands sideways."""
    span, trunk = _lengths(points, skeleton)
    left, right = skeleton.hips
    with np.errstate(invalid="ignore"):
        return np.asarray(seen[:, left] & seen[:, right] & (span < NARROW * trunk))


def _lengths(points: Floats, skeleton: Skeleton) -> tuple[Floats, Floats]:
    """Hip to hip, and shoulders' middle to hips' middle (NaN for joints nobody named)."""
    left, right = skeleton.hips
    span = joint_distances(points[:, left], points[:, right], columns=2)
    names = {name: number for number, name in enumerate(skeleton.joints)}
    if "left_shoulder" not in names or "right_shoulder" not in names:
        return span, np.full(len(points), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        shoulders = (points[:, names["left_shoulder"]] + points[:, names["right_shoulder"]]) / 2
        hips = (points[:, left] + points[:, right]) / 2
    return span, joint_distances(shoulders, hips, columns=2)


def pose_warnings(
    pred: PoseSet,
    gt: PoseSet,
    pairing: Pairing,
    checks: Checks,
    *,
    skeleton: Skeleton,
    norms: Sequence[PckNormalization],
    unmatched: Unmatched,
) -> list[str]:
    """Every warning, in a fixed order: the files', the pairing's, the poses'."""
    lines = [f"{side.path}: {warning}" for side in (pred, gt) for warning in side.warnings]
    lines += pairing.warnings(pred, gt, unmatched)
    if pairing.by == "order" and (pred.ids is None) != (gt.ids is None):
        lines.append(f"{(pred if pred.ids is None else gt).path}: has no image ids, so frames were paired by order")
    if pairing.by in ("order", "image id") and pred.fps and gt.fps and abs(pred.fps / gt.fps - 1) > 0.01:
        lines.append(
            f"{pred.path} runs at {pred.fps:.2f} frames a second and {gt.path} at {gt.fps:.2f}: frames were paired by "
            "number, which is another moment; --pair time pairs by time, or bring both to one rate first (rushes canon)"
        )
    if gt.visibility is None:
        lines.append(f"{gt.path}: has no visibility; every joint with a finite place counts as visible")
    lines += _place_warnings(pred, gt, pairing, checks, skeleton)
    lines += _body_warnings(pred, gt, pairing, checks)
    if any("torso" in norm.name for norm in norms) and checks.narrow.count * 4 > checks.hips_seen:
        lines.append(
            f"{gt.path}: hip to hip is less than {NARROW:.0%} of the trunk in {checks.narrow.count} of "
            f"{checks.hips_seen} frames (first {_frame(checks.narrow, gt, pairing)}), as from the side: PCK by the "
            "torso is then a matter of few pixels; bbox-diagonal is not"
        )
    lines += [f"{gt.path}: {warning}" for norm in norms if (warning := norm.warning(checks.largest))]
    better = checks.better_skeleton(skeleton.name)
    if better is not None:
        lines.append(f"{gt.path}: read as {skeleton.name}, left and right limbs differ greatly; {better} fits better")
    return lines


def _frame(finding: Finding, gt: PoseSet, pairing: Pairing) -> str:
    frame, _ = finding.first or (0, 0)
    return gt.frame_name(frame + (pairing.gt.start or 0) if isinstance(pairing.gt, slice) else int(pairing.gt[frame]))


def _place_warnings(pred: PoseSet, gt: PoseSet, pairing: Pairing, checks: Checks, skeleton: Skeleton) -> Iterator[str]:
    for side, finding, what in (
        (gt, checks.truth_unplaced, "visible joints without a finite place, which count as wrong"),
        (pred, checks.pred_missing, "joints without a finite prediction, which count as wrong"),
        (pred, checks.pred_blank, "of these are written as 0, 0 with confidence 0: taken as not found"),
        (
            pred,
            checks.pred_origin,
            "joints predicted at exactly 0, 0, scored as they are; if they were not found, write NaN",
        ),
        (pred, checks.pred_huge, "coordinates beyond 1e9, scored as they are"),
        (gt, checks.truth_huge, "coordinates beyond 1e9, scored as they are"),
    ):
        if finding.first is not None:
            joint = skeleton.joints[finding.first[1]]
            yield f"{side.path}: {finding.count} {what} (first {_frame(finding, gt, pairing)}, {joint})"


def _body_warnings(pred: PoseSet, gt: PoseSet, pairing: Pairing, checks: Checks) -> Iterator[str]:
    for side, finding in ((pred, checks.pred_jumps), (gt, checks.truth_jumps)):
        if finding.count:
            yield (
                f"{side.path}: the hips leap by more than {JUMP_TORSOS:g} torsos {finding.count} times (first "
                f"{_frame(finding, gt, pairing)}), as where the estimator goes over to another person"
            )
    if checks.hips_swapped.count * 2 > checks.hips_seen:
        yield (
            f"{pred.path}: left and right hip look swapped in {checks.hips_swapped.count} of {checks.hips_seen} frames "
            f"(first {_frame(checks.hips_swapped, gt, pairing)}); nothing was exchanged"
        )
