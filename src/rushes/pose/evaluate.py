"""Scoring poses: two files (or two clips) in, labelled numbers and a run directory out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.canonical import canonical_json
from rushes.core.progress import Progress, no_progress
from rushes.core.provenance import bytes_digest, file_digest
from rushes.core.selection import Numbers
from rushes.errors import InputError
from rushes.media.endings import VIDEO_SUFFIXES
from rushes.pose.accuracy import PoseAccuracy, accuracy_of
from rushes.pose.batch import PoseBatch, PoseSet
from rushes.pose.json_poses import Duplicates
from rushes.pose.measurements import pose_measurements
from rushes.pose.normalization import DEFAULT_PX, parse_norms
from rushes.pose.pairing import Pairing, Unmatched, agree_on_skeleton, common_unit, pair_frames, same_dims
from rushes.pose.pck import CURVE_SERIES, checked_ks
from rushes.pose.people import Assign, PeoplePairing, assignment_rule, pair_people
from rushes.pose.people_numbers import people_measurements, people_warnings
from rushes.pose.poses import Columns, read_poses
from rushes.pose.scoring import PoseScores, Root, ScoreSettings, score_batch
from rushes.pose.skeletons import Skeleton
from rushes.pose.warnings import pose_warnings
from rushes.remote.address import local_only
from rushes.runs import Entry, RunWriter, Subject, subject_ids

DEFAULT_KS = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseEvaluation(Numbers):
    """What a pair of pose files scored, and everything a reader must know about it.

    `done["mpjpe"]` is one number, `done.one("pck", k=20, norm="torso-diameter")` one of several,
    `done.select("pck", joint="left_wrist")` all that match.
    """

    run: Path
    accuracies: tuple[PoseAccuracy, ...]
    """One per normalisation, in the order asked."""
    measurements: tuple[Measurement, ...]
    warnings: tuple[str, ...]
    """Mismatches, guesses and oddities, each one line, in a fixed order."""
    skeleton: Skeleton
    dims: int
    pairing: Pairing
    scores: PoseScores
    """The counts and sums behind the numbers."""


def score_pose(
    pred: Path | str,
    gt: Path | str,
    *,
    norms: str | Iterable[str],
    ks: int | Iterable[int] = DEFAULT_KS,
    skeleton: str | None = None,
    hips: tuple[int, int] | None = None,
    head: tuple[int, int] | None = None,
    columns: Columns | None = None,
    dims: Literal[2, 3] | None = None,
    unit: str | None = None,
    root: Root = "as-given",
    px: float = DEFAULT_PX,
    duplicates: Duplicates = "refuse",
    assign: Assign | None = None,
    unmatched: Unmatched = "skip",
    run: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> PoseEvaluation:
    """Score predicted poses against true ones and write a run directory.

    Inputs      COCO key point JSON, JSON lines, `.npy`, `.npz`, or clips, whose bodies are then found first.
                norms: one or several of `NORMALIZATIONS` by name (`torso-diameter`, `absolute-px=8`), or `all`,
                ADR-173's three with `px` as the absolute threshold. `run` defaults to `runs/pose-<digest>`; one
                of other files is refused, unless `overwrite` starts it anew.
    Errors      `InputError` with the file and the frame: different joints, 2-D against 3-D, nothing that pairs.
    """
    local_only(pred, gt, run)
    predicted, truth = (_load(side, columns=columns, duplicates=duplicates, progress=progress) for side in (pred, gt))
    body, predicted, truth, notes = agree_on_skeleton(predicted, truth, skeleton=skeleton, hips=hips, head=head)
    predicted, truth = same_dims(predicted, truth, dims)
    people = None
    if duplicates == "refuse":
        pairing = pair_frames(predicted, truth, unmatched=unmatched)
    else:
        assign = assignment_rule(assign, body)
        people = pair_people(
            predicted, truth, assign=assign, largest_only=duplicates == "keep-best", unmatched=unmatched
        )
        pairing = people.pairing
    settings = ScoreSettings(
        norms=parse_norms(norms, body, px=px),
        ks=_some(checked_ks([ks] if isinstance(ks, int) else list(ks))),
        skeleton=body,
        unit=common_unit(predicted, truth, unit),
        root=root,
        sequence=predicted.consecutive and truth.consecutive and isinstance(pairing.gt, slice),
        estimator=predicted.estimator or "",
        truth=truth.estimator or "",
        unmatched=unmatched,
        labels=_labels(predicted, truth, pairing, duplicates, assign if people else None),
    )
    scored = _score(predicted, truth, pairing, settings, people)
    asked = {
        "columns": columns or "",
        "duplicates": duplicates,
        "assign": assign or "",
        "unmatched": unmatched,
        "gt_sha256": file_digest(gt),
    }
    done = replace(scored, warnings=(*notes, *scored.warnings), run=Path() if run is None else Path(run))
    return _store(done, str(pred), str(gt), asked, settings, overwrite=overwrite)


def _labels(
    pred: PoseSet, gt: PoseSet, pairing: Pairing, duplicates: Duplicates, assign: Assign | None
) -> tuple[tuple[str, str], ...]:
    """What departs from the plainest case (joints as they are, frames in order, one pose each), for every signature."""
    labels = {
        "pair": "" if pairing.by == "order" else pairing.by.replace(" ", "-"),
        "duplicates": "" if duplicates == "refuse" else duplicates,
        "assign": assign or "",
        "pred_joints": pred.picked_from or "",
        "truth_joints": gt.picked_from or "",
    }
    return tuple((key, value) for key, value in labels.items() if value)


def _some(ks: list[int]) -> tuple[int, ...]:
    if not ks:
        raise InputError("expected at least one k, such as --k 20; got none")
    return tuple(ks)


def _score(
    pred: PoseSet, gt: PoseSet, pairing: Pairing, settings: ScoreSettings, people: PeoplePairing | None
) -> PoseEvaluation:
    visibility = None if gt.visibility is None else pairing.take(gt.visibility, "gt")
    confidence = None if pred.visibility is None else pairing.take(pred.visibility, "pred")
    batch = PoseBatch(pairing.take(pred.points, "pred"), pairing.take(gt.points, "gt"), visibility, confidence)
    areas = None if gt.areas is None else pairing.take(gt.areas, "gt")
    scores = score_batch(batch, settings, areas=areas)
    norms, body = settings.norms, settings.skeleton
    return PoseEvaluation(
        run=Path(),
        accuracies=tuple(accuracy_of(scores.tally, settings.ks, norm, index=n) for n, norm in enumerate(norms)),
        measurements=(
            *pose_measurements(scores, settings, columns=batch.columns, areas=areas is not None),
            *people_measurements(pred, gt, settings, people),
        ),
        warnings=(
            *pose_warnings(pred, gt, pairing, scores.checks, skeleton=body, norms=norms, unmatched=settings.unmatched),
            *people_warnings(pred, gt, people),
        ),
        skeleton=body,
        dims=batch.columns,
        pairing=pairing,
        scores=scores,
    )


def _load(
    path: Path | str,
    *,
    columns: Columns | None,
    duplicates: Duplicates,
    progress: Progress,
) -> PoseSet:
    if Path(path).suffix.lower() in VIDEO_SUFFIXES:
        from rushes.pose.extract import extract_poses

        return extract_poses(path, progress=progress).pose_set()
    return read_poses(path, columns=columns, duplicates=duplicates)


def _store(
    done: PoseEvaluation, pred: str, gt: str, options: dict[str, str], settings: ScoreSettings, *, overwrite: bool
) -> PoseEvaluation:
    asked: dict[str, object] = {**options} | {
        "norms": [norm.label() for norm in settings.norms],
        "ks": list(settings.ks),
        "skeleton": done.skeleton.name,
        "head": list(done.skeleton.head or ()),
        "dims": done.dims,
        "unit": settings.unit,
        "root": settings.root,
    }
    digest = bytes_digest(canonical_json([asked, pred, gt]).encode())[:8]
    target = Path("runs") / f"pose-{digest}" if done.run == Path() else done.run
    (subject_id,) = subject_ids([Path(pred).stem])
    facts = done.pairing.as_dict() | {"gt": gt, "skeleton": done.skeleton.name, "warnings": list(done.warnings)}
    subject = Subject(id=subject_id, kind="pose", path=pred, sha256=file_digest(pred), facts=facts)
    entry = Entry(subject=subject, measurements=done.measurements, series=_series(done.scores, settings))
    with RunWriter(target, instrument="pose", settings=asked, inputs=[pred, gt], overwrite=overwrite) as writer:
        writer.add(entry)
        writer.finish([subject_id])
    return replace(done, run=target)


def _series(scores: PoseScores, settings: ScoreSettings) -> dict[str, NDArray[Any]]:
    """Per-frame errors for the timeline, and PCK against k under each normalisation for the chart."""
    series: dict[str, NDArray[Any]] = {
        f"{CURVE_SERIES}{norm.label()}": np.array(found.curve_ratios())
        for norm, found in zip(settings.norms, scores.tally.pck, strict=True)
    }
    if scores.frame_errors:
        series["frame_mpjpe"] = np.concatenate(scores.frame_errors)
    return series
