"""From counts and sums to labelled numbers: every value leaves with its definition, its count and its note."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from rushes.core import Definition, Measurement
from rushes.pose.accuracy import PoseAccuracy
from rushes.pose.errors3d import N_MPJPE, PA_MPJPE, PCK_3D, PCK_3D_AUC, THRESHOLDS_MM
from rushes.pose.joint_errors import FOUND_RATIO, MPJPE, MPJPE_FOUND, ErrorSum
from rushes.pose.motion import ACCELERATION_ERROR, VELOCITY_ERROR
from rushes.pose.normalization import AbsolutePixels, HeadSize, PckNormalization, TorsoDiameter
from rushes.pose.oks import OKS
from rushes.pose.pck import PCK_AUC, PCK_JOINT, PckTally, pck_definition
from rushes.pose.scoring import MILLIMETRES, PoseScores, ScoreSettings
from rushes.pose.skeletons import COCO_17
from rushes.pose.tally import Tally

JOINT_K = 20
"""The k at which single joints are scored, unless it was not asked for; then the largest that was."""


def as_measurements(
    accuracy: PoseAccuracy, tally: Tally, *, dims: int = 2, unit: str = "as-given", index: int = 0, **labels: str
) -> tuple[Measurement, ...]:
    """A `PoseAccuracy` as labelled numbers; the tally it was made from says what each rests on.

    Parameters: `index` says which of the tally's normalisations the accuracy is; `labels` are further parameters of
    the signatures, such as `skeleton="mediapipe-33"`.
    """
    rows = list(_pck_rows(tally.pck[index], tuple(accuracy.pck_at), accuracy.normalization, tally.frames, labels))
    return (*rows, _mean_row(_in_unit(MPJPE, unit, dims=str(dims), **labels), tally.error))


def pose_measurements(
    scores: PoseScores, settings: ScoreSettings, *, columns: int, areas: bool, labels: Mapping[str, str]
) -> tuple[Measurement, ...]:
    """Every number of a scored pair. `areas` says whether OKS had the annotations' areas."""
    named = dict(labels)
    if settings.skeleton.name != COCO_17.name:
        named["skeleton"] = settings.skeleton.name
    rows: list[Measurement] = []
    for norm, found in zip(settings.norms, scores.tally.pck, strict=True):
        rows += _pck_rows(found, settings.ks, norm, scores.tally.frames, named)
        if settings.curve and not isinstance(norm, (AbsolutePixels, HeadSize)):
            rows.append(_area_row(found, norm, named))
    rows += _error_rows(scores, settings, columns, named)
    if settings.similarity:
        rows.append(_oks_row(scores.oks, areas, named))
    if columns == 3:
        rows += _space_rows(scores, settings, named)
    if settings.sequence:
        rows += _motion_rows(scores, settings, columns, named)
    for norm, found in zip(settings.norms, scores.tally.pck, strict=True):
        rows += _joint_rows(found, settings, norm, named)
    return tuple(rows)


def _pck_rows(
    found: PckTally, ks: tuple[int, ...], norm: PckNormalization, frames: int, labels: Mapping[str, str]
) -> Iterator[Measurement]:
    total = int(found.total.sum())
    left_out = frames - found.scored_frames
    note = f"{left_out} of {frames} frames not scoreable: {_why(norm)}" if left_out else ""
    if not total and not note:
        note = "no key point is visible in the ground truth" if frames else "there are no frames"
    for k, ratio in zip(ks, found.ratios(), strict=True):
        yield Measurement(definition=pck_definition(k, norm, **labels), value=ratio, count=total, note=note)


def _why(norm: PckNormalization) -> str:
    if isinstance(norm, TorsoDiameter):
        return "a hip is not visible, or both are in one place"
    if isinstance(norm, HeadSize):
        return "a head joint is not visible, or both are in one place"
    return "no extent" if not isinstance(norm, AbsolutePixels) else "the threshold is not positive"


def _area_row(found: PckTally, norm: PckNormalization, labels: Mapping[str, str]) -> Measurement:
    definition = PCK_AUC.add_params(norm=norm.label(), **labels)
    total = int(found.total.sum())
    if not total:
        return Measurement.missing(definition, "nothing could be scored")
    return Measurement(definition=definition, value=found.area(), count=total)


def _joint_rows(
    found: PckTally, settings: ScoreSettings, norm: PckNormalization, labels: Mapping[str, str]
) -> Iterator[Measurement]:
    k = JOINT_K if JOINT_K in settings.ks else settings.ks[-1]
    row = found.correct[settings.ks.index(k)]
    for joint, correct, total in zip(settings.skeleton.joints, row.tolist(), found.total.tolist(), strict=True):
        definition = PCK_JOINT.add_params(joint=joint, k=k, norm=norm.label(), **labels)
        if total:
            yield Measurement(definition=definition, value=correct / total, count=total)
        else:
            yield Measurement.missing(definition, "never visible in a scoreable frame")


def _in_unit(definition: Definition, unit: str, **labels: str) -> Definition:
    """The definition with its unit settled, in the signature and in words."""
    settled = definition.add_params(unit=unit, **labels)
    if unit == "as-given":
        return settled
    return replace(settled, unit=settled.unit.replace("coordinate units", unit))


def _mean_row(definition: Definition, errors: ErrorSum) -> Measurement:
    """A mean that is 0.0 over nothing, and null when something is missing."""
    if not errors.count:
        return Measurement(definition=definition, value=0.0, count=0, note="no visible joint to measure")
    mean = errors.mean()
    if math.isfinite(mean):
        return Measurement(definition=definition, value=mean, count=errors.count)
    note = f"{errors.missing} of {errors.count} visible joints have no finite place or prediction"
    return Measurement.missing(definition, note, count=errors.count)


def _found_row(definition: Definition, errors: ErrorSum, what: str) -> Measurement:
    """A mean over what was found; what is missing is counted in the note."""
    note = f"{errors.missing} of {errors.count} {what} left out" if errors.missing else ""
    mean = errors.found_mean()
    if not errors.found or not math.isfinite(mean):
        return Measurement.missing(definition, note or f"no {what}")
    return Measurement(definition=definition, value=mean, count=errors.found, note=note)


def _error_rows(
    scores: PoseScores, settings: ScoreSettings, columns: int, labels: Mapping[str, str]
) -> Iterator[Measurement]:
    errors = scores.tally.error
    named = _space_labels(settings, labels) if columns == 3 else dict(labels)
    yield _mean_row(_in_unit(MPJPE, settings.unit, dims=str(columns), **named), errors)
    found = _in_unit(MPJPE_FOUND, settings.unit, dims=str(columns), **named)
    yield _found_row(found, errors, "visible joints without a finite prediction")
    ratio = FOUND_RATIO.add_params(**labels)
    if errors.count:
        yield Measurement(definition=ratio, value=errors.found / errors.count, count=errors.count)
    else:
        yield Measurement.missing(ratio, "no visible joint to measure")


def _oks_row(similar: ErrorSum, areas: bool, labels: Mapping[str, str]) -> Measurement:
    definition = OKS.add_params(area="annotation" if areas else "key-point-box", **labels)
    return _found_row(definition, similar, "frames without a visible joint or an area")


def _space_labels(settings: ScoreSettings, labels: Mapping[str, str]) -> dict[str, str]:
    return dict(labels) | ({"root": settings.root} if settings.root != "as-given" else {})


def _space_rows(scores: PoseScores, settings: ScoreSettings, labels: Mapping[str, str]) -> Iterator[Measurement]:
    named = _space_labels(settings, labels)
    yield _mean_row(_in_unit(PA_MPJPE, settings.unit, **labels), scores.procrustes)
    yield _mean_row(_in_unit(N_MPJPE, settings.unit, **named), scores.scaled)
    count = scores.tally.error.count
    for definition, value in (
        (PCK_3D, scores.within[-1] / max(count, 1)),
        (PCK_3D_AUC, sum(scores.within) / len(THRESHOLDS_MM) / max(count, 1)),
    ):
        labelled = definition.add_params(**named)
        if settings.unit not in MILLIMETRES:
            yield Measurement.missing(labelled, "the unit of the coordinates is not known; say --unit mm, cm or m")
        elif not count:
            yield Measurement.missing(labelled, "no visible joint to measure")
        else:
            yield Measurement(definition=labelled, value=value, count=count)


def _motion_rows(
    scores: PoseScores, settings: ScoreSettings, columns: int, labels: Mapping[str, str]
) -> Iterator[Measurement]:
    for definition, errors in ((VELOCITY_ERROR, scores.velocity), (ACCELERATION_ERROR, scores.acceleration)):
        labelled = _in_unit(definition, settings.unit, dims=str(columns), **labels)
        yield _found_row(labelled, errors, "steps between visible joints")
