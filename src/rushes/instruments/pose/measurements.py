"""From counts and sums to labelled numbers: every value leaves with its definition, its count and its note.

A set of clips is one number twice: pooled over everything measured, and the mean of the clips; sure as clips allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rushes.core import Definition, Measurement
from rushes.core.definition import require_same_signature
from rushes.core.measurement import At
from rushes.instruments.pose.files.skeletons import COCO_17, Skeleton
from rushes.instruments.pose.pairing.people import IDENTITY_SWITCHES
from rushes.instruments.pose.pairing.time import POSE_LAG
from rushes.instruments.pose.scores import average_precision, errors3d, joint_errors
from rushes.instruments.pose.scores.joint_errors import AKD, FOUND_RATIO, MKR, MPJPE, MPJPE_FOUND, ErrorSum
from rushes.instruments.pose.scores.normalization import PckNormalization
from rushes.instruments.pose.scores.oks import OKS
from rushes.instruments.pose.scores.pck import PCK, PCK_AUC, PCKH, PCKH_AUC, PckTally, area_definition, pck_definition
from rushes.instruments.pose.scoring import MILLIMETRES, PoseScores, ScoreSettings
from rushes.instruments.pose.seed.accuracy import PoseAccuracy, Tally
from rushes.stats.jackknife import pooled_over_clips
from rushes.stats.means import mean_of_clips

_PLANE = (PCK, PCKH, PCK_AUC, PCKH_AUC, MPJPE, MPJPE_FOUND, FOUND_RATIO, OKS, AKD, MKR)
_PEOPLE = (average_precision.KEYPOINT_AP, average_precision.KEYPOINT_AR, IDENTITY_SWITCHES)
_TIME = (joint_errors.VELOCITY_ERROR, joint_errors.ACCELERATION_ERROR, POSE_LAG)
DEFINITIONS = (*_PLANE, *_PEOPLE, *errors3d.DEFINITIONS, *_TIME)
"""Every definition of this instrument, in the order the catalogue shows them."""

JOINT_K = 20
"""The k at which single joints are scored, unless it was not asked for; then the largest that was."""

NOT_POOLED = ("keypoint_ap", "keypoint_ar", "identity_switches", "pose_lag")
"""Numbers that are no mean over what they count."""

_NOTHING = "no visible joint to measure"
_ROOTED = ("mpjpe", "mpjpe_found", "n_mpjpe", "n_mpjpe_found", "pck_3d", "pck_3d_auc")
"""Metrics that the origin of 3-D coordinates moves."""


def as_measurements(
    accuracy: PoseAccuracy, tally: Tally, *, dims: int = 2, unit: str = "as-given", skeleton: Skeleton | None = None
) -> tuple[Measurement, ...]:
    """A `PoseAccuracy` as labelled numbers; the tally it was made from says what each rests on.

    Seventeen joints are COCO's unless a skeleton is given; any other number of them is in the signature.
    """
    rows = _pck_rows(tally.pck[0], tuple(accuracy.pck_at), accuracy.normalization, tally.frames)
    every = (*rows, _mean_row(_in_unit(MPJPE, unit, dims=dims), tally.error))
    joints = accuracy.n_keypoints
    name = skeleton.name if skeleton else f"{joints}-joints" if joints not in (0, 17) else COCO_17.name
    if name == COCO_17.name:
        return every
    return tuple(replace(row, definition=row.definition.add_params(skeleton=name)) for row in every)


def pose_measurements(
    scores: PoseScores, settings: ScoreSettings, *, columns: int, areas: bool
) -> tuple[Measurement, ...]:
    """Every number of a scored pair. `areas` says whether OKS had the annotations' areas."""
    rows = _rows(scores, settings, columns=columns, areas=areas)
    return tuple(variant(row, settings, columns) for row in rows)


def variant(row: Measurement, settings: ScoreSettings, columns: int) -> Measurement:
    """The number with what departs from the usual in its signature: other joints, clips as input, another rule.

    Added rather than open: a definition that left them open would spell them out in every signature, and the plain
    ones (`pck|k:20|norm:torso-diameter|v:1`) are published as they are.
    """
    labels: dict[str, str] = {}
    if settings.skeleton.name != COCO_17.name:
        labels["skeleton"] = settings.skeleton.name
    labels |= dict(settings.labels)
    if settings.estimator:
        labels["estimator"] = settings.estimator
    if settings.truth:
        labels["truth"] = settings.truth
    if settings.unmatched != "skip":
        labels["unmatched"] = settings.unmatched
    if settings.root != "as-given" and columns == 3 and row.name in _ROOTED:
        labels["root"] = settings.root
    return replace(row, definition=row.definition.add_params(**labels)) if labels else row


def _rows(scores: PoseScores, settings: ScoreSettings, *, columns: int, areas: bool) -> Iterator[Measurement]:
    for norm, found in zip(settings.norms, scores.tally.pck, strict=True):
        yield from _pck_rows(found, settings.ks, norm, scores.tally.frames)
        if norm.has_area:
            yield _row(area_definition(norm), found.area(), int(found.total.sum()), "nothing could be scored")
    yield from _error_rows(scores, settings, columns)
    if settings.similarity:
        oks = OKS.with_params(area="annotation" if areas else "key-point-box")
        yield _found_row(oks, scores.oks, "frames without a visible joint or an area")
    if columns == 2:
        yield _found_row(_in_unit(AKD, settings.unit), scores.akd, "frames without a joint that both have")
        yield _found_row(MKR, scores.mkr, "frames without a visible joint")
    if columns == 3:
        yield from _space_rows(scores, settings)
    if settings.sequence:
        yield from _motion_rows(scores, settings, columns)
    for norm, found in zip(settings.norms, scores.tally.pck, strict=True):
        yield from _joint_rows(found, settings, norm)
    yield from _joint_errors(scores, settings, columns)


def _joint_errors(scores: PoseScores, settings: ScoreSettings, columns: int) -> Iterator[Measurement]:
    """Mean distance of each joint, over the frames that show and predict it."""
    definition = _in_unit(MPJPE_FOUND, settings.unit, dims=columns)
    for joint, errors in zip(settings.skeleton.joints, scores.tally.errors, strict=True):
        row = _found_row(definition, errors, "visible joints without a finite prediction")
        yield replace(row, at=(("joint", joint),))


def _pck_rows(found: PckTally, ks: tuple[int, ...], norm: PckNormalization, frames: int) -> Iterator[Measurement]:
    total = int(found.total.sum())
    left_out = frames - found.scored_frames
    note = f"{left_out} of {frames} frames not scoreable: {norm.unscoreable}" if left_out else ""
    if not total and not note:
        note = "no key point is visible in the ground truth" if frames else "there are no frames"
    # ADR-173 gives 0.0 of 0: `PoseAccuracy` has that, and what is stored and compared has no value.
    for k, ratio in zip(ks, found.ratios(), strict=True):
        yield _row(pck_definition(k, norm), ratio, total, note, note=note)


def _joint_rows(found: PckTally, settings: ScoreSettings, norm: PckNormalization) -> Iterator[Measurement]:
    k = JOINT_K if JOINT_K in settings.ks else settings.ks[-1]
    definition = pck_definition(k, norm)
    row = found.correct[settings.ks.index(k)]
    for joint, correct, total in zip(settings.skeleton.joints, row.tolist(), found.total.tolist(), strict=True):
        never = "never visible in a scoreable frame"
        yield _row(definition, correct / max(total, 1), total, never, at=(("joint", joint),))


def _row(definition: Definition, value: float, count: int, lacking: str, *, note: str = "", at: At = ()) -> Measurement:
    """A number over so many; over none it has no value, and `lacking` says why."""
    if not count:
        return Measurement.missing(definition, lacking, at=at)
    return Measurement(definition=definition, value=value, count=count, note=note, at=at)


def _in_unit(definition: Definition, unit: str, **dims: int) -> Definition:
    """The definition with its unit and dimensions set, in the signature and in words."""
    closed = definition.with_params(unit=unit, **dims)
    return closed if unit == "as-given" else replace(closed, unit=closed.unit.replace("coordinate units", unit))


def _mean_row(definition: Definition, errors: ErrorSum) -> Measurement:
    """A mean; null over nothing, and when something is missing."""
    if not errors.count:
        return Measurement.missing(definition, _NOTHING)
    mean = errors.mean()
    if math.isfinite(mean):
        return Measurement(definition=definition, value=mean, count=errors.count)
    note = f"{errors.missing} of {errors.count} visible joints have no finite place or prediction"
    return Measurement.missing(definition, note, count=errors.count)


def _found_row(definition: Definition, errors: ErrorSum, what: str, *, lacking: str = _NOTHING) -> Measurement:
    """A mean over what was found; what is missing is counted in the note, and `lacking` says why there is nothing."""
    note = f"{errors.missing} of {errors.count} {what} left out" if errors.missing else ""
    mean = errors.found_mean()
    if not errors.found or not math.isfinite(mean):
        return Measurement.missing(definition, note or lacking)
    return Measurement(definition=definition, value=mean, count=errors.found, note=note)


def _error_rows(scores: PoseScores, settings: ScoreSettings, columns: int) -> Iterator[Measurement]:
    errors = scores.tally.error
    yield _mean_row(_in_unit(MPJPE, settings.unit, dims=columns), errors)
    found = _in_unit(MPJPE_FOUND, settings.unit, dims=columns)
    yield _found_row(found, errors, "visible joints without a finite prediction")
    ratio = errors.found / max(errors.count, 1)
    yield _row(FOUND_RATIO, ratio, errors.count, _NOTHING)


def _space_rows(scores: PoseScores, settings: ScoreSettings) -> Iterator[Measurement]:
    yield _mean_row(_in_unit(errors3d.PA_MPJPE, settings.unit), scores.procrustes)
    yield _mean_row(_in_unit(errors3d.N_MPJPE, settings.unit), scores.scaled)
    lacking = "visible joints without a finite prediction, or with fewer than three in their frame,"
    yield _found_row(_in_unit(errors3d.PA_MPJPE_FOUND, settings.unit), scores.procrustes_found, lacking)
    yield _found_row(_in_unit(errors3d.N_MPJPE_FOUND, settings.unit), scores.scaled_found, lacking)
    known = settings.unit in MILLIMETRES
    why = _NOTHING if known else "the unit of the coordinates is not known; give --unit mm, cm or m"
    count = scores.tally.error.count if known else 0
    for definition, within in (
        (errors3d.PCK_3D, int(scores.within[-1])),
        (errors3d.PCK_3D_AUC, int(scores.within.sum()) / len(errors3d.THRESHOLDS_MM)),
    ):
        yield _row(definition, within / max(count, 1), count, why)


def _motion_rows(scores: PoseScores, settings: ScoreSettings, columns: int) -> Iterator[Measurement]:
    every = (joint_errors.VELOCITY_ERROR, scores.velocity), (joint_errors.ACCELERATION_ERROR, scores.acceleration)
    for definition, errors in every:
        own = _in_unit(definition, settings.unit, dims=columns)
        what = "steps between visible joints"
        yield _found_row(own, errors, what, lacking=f"no {what}")


def set_measurements(clips: Sequence[Sequence[Measurement]]) -> Iterator[Measurement]:
    """Every number about the whole body, over the clips: pooled where that means something, then the clips' mean."""
    groups: dict[tuple[str, At], list[Measurement]] = {}
    for numbers in clips:
        for m in numbers:
            if "joint" not in m.place:
                groups.setdefault((m.signature, m.at), []).append(m)
    for group in groups.values():
        if group[0].name not in NOT_POOLED:
            yield pooled(group)
        yield mean_of_clips(group)


def pooled(group: Sequence[Measurement]) -> Measurement:
    """Σ value · count / Σ count over the clips: every joint counts once, so long clips count for more."""
    shared = require_same_signature(m.definition for m in group)
    definition = shared.add_params(aggregate="pooled")
    parts = [(float(m.value), m.count) for m in group if m.value is not None and m.count]
    left_out = len(group) - len(parts)
    if not parts:
        return Measurement.missing(definition, f"none of the {left_out} clips has a value", at=group[0].at)
    found = pooled_over_clips(parts, lowest=shared.lowest, highest=shared.highest)
    notes = (f"{left_out} of {len(group)} clips have no value" if left_out else "", found.lacking)
    return Measurement.of(definition, found, at=group[0].at, note="; ".join(filter(None, notes)))
