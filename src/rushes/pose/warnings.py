"""What a reader must know about a scored pair, one line each: mismatches, guesses, oddities in the poses."""

from __future__ import annotations

from rushes.pose.checks import Finding
from rushes.pose.matching import Pairing, Unmatched
from rushes.pose.normalization import AbsolutePixels
from rushes.pose.poses import PoseSet
from rushes.pose.scoring import PoseScores, ScoreSettings


def remarks(
    pred: PoseSet, gt: PoseSet, pairing: Pairing, scores: PoseScores, settings: ScoreSettings, unmatched: Unmatched
) -> list[str]:
    """Every remark, in a fixed order: the files', the pairing's, the poses'."""
    found = [f"{side.path}: {remark}" for side in (pred, gt) for remark in side.remarks]
    found += pairing.remarks(pred, gt, unmatched)
    if pairing.by == "order" and (pred.ids is None) != (gt.ids is None):
        found.append(f"{(pred if pred.ids is None else gt).path}: has no image ids, so frames were paired by order")
    if pred.fps and gt.fps and abs(pred.fps / gt.fps - 1) > 0.01:
        found.append(
            f"{pred.path} runs at {pred.fps:.2f} frames a second and {gt.path} at {gt.fps:.2f}: frames were paired by "
            "number, which is another moment; bring both to one rate first (rushes canon)"
        )
    if gt.visibility is None:
        found.append(f"{gt.path}: has no visibility; every joint with a finite place counts as visible")
    return (
        found + _place_remarks(pred, gt, pairing, scores, settings) + _body_remarks(pred, gt, pairing, scores, settings)
    )


def _frame(finding: Finding, gt: PoseSet, pairing: Pairing) -> str:
    frame, _ = finding.first or (0, 0)
    return gt.frame_name(frame if isinstance(pairing.gt, slice) else int(pairing.gt[frame]))


def _place_remarks(
    pred: PoseSet, gt: PoseSet, pairing: Pairing, scores: PoseScores, settings: ScoreSettings
) -> list[str]:
    checks, found = scores.checks, []
    for side, finding, what in (
        (gt, checks.truth_unplaced, "visible joints without a finite place, which count as wrong"),
        (pred, checks.pred_missing, "joints without a finite prediction, which count as wrong"),
        (pred, checks.pred_huge, "coordinates beyond 1e9, scored as they are"),
        (gt, checks.truth_huge, "coordinates beyond 1e9, scored as they are"),
    ):
        if finding.first is not None:
            joint = settings.skeleton.joints[finding.first[1]]
            found.append(f"{side.path}: {finding.count} {what} (first {_frame(finding, gt, pairing)}, {joint})")
    return found


def _body_remarks(
    pred: PoseSet, gt: PoseSet, pairing: Pairing, scores: PoseScores, settings: ScoreSettings
) -> list[str]:
    checks, name, found = scores.checks, settings.skeleton.name, []
    if checks.hips_swapped.count * 2 > checks.hips_seen:
        found.append(
            f"{pred.path}: left and right hip look swapped in {checks.hips_swapped.count} of {checks.hips_seen} frames "
            f"(first {_frame(checks.hips_swapped, gt, pairing)}); nothing was exchanged"
        )
    for norm in settings.norms:
        if isinstance(norm, AbsolutePixels) and norm.threshold > checks.largest > 0:
            found.append(
                f"{gt.path}: {norm.label()} is larger than any coordinate (the largest is {checks.largest:g}), so it "
                "tells nothing; give the threshold in the unit of the coordinates"
            )
    better = checks.better_skeleton(name)
    if better is not None:
        found.append(f"{gt.path}: read as {name}, left and right limbs differ greatly; {better} fits better")
    return found
