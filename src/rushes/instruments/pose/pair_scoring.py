"""Scoring one pair of files or clips: read, put together, scored; nothing is written.

Beside a number from clips stands what the estimator alone costs: a re-encoded copy of the truth, scored against the
truth. PCK between two clips compares two guesses of one estimator, and the guesses move with the picture's coding
though no body moved. So the noise floor is what the same estimator gives for the truth's own frames after H.264 at crf
35, a coding that people still accept: a prediction cannot be told from a perfect one by a difference smaller than that.
The signature is the number's own; `copy` says what the number is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.errors import RushesError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest
from rushes.core.selection import Numbers
from rushes.instruments.pose.diagnostics import pose_warnings
from rushes.instruments.pose.files.batch import PoseBatch, PoseSet
from rushes.instruments.pose.files.coco_people import CocoPeople
from rushes.instruments.pose.files.poses import read_poses
from rushes.instruments.pose.files.skeletons import Skeleton
from rushes.instruments.pose.measurements import pose_measurements, variant
from rushes.instruments.pose.pairing import files as sides
from rushes.instruments.pose.pairing.files import Pairing
from rushes.instruments.pose.pairing.people import PeoplePairing, assignment_rule, identity_switches, pair_people
from rushes.instruments.pose.pairing.question import PoseQuestion
from rushes.instruments.pose.pairing.time import pair_by_lag, pair_by_time, pair_by_warping
from rushes.instruments.pose.scores.average_precision import ap_measurements
from rushes.instruments.pose.scores.normalization import parse_norms
from rushes.instruments.pose.scores.pck import CURVE_SERIES
from rushes.instruments.pose.scoring import PoseScores, ScoreSettings, score_batch
from rushes.instruments.pose.seed.accuracy import PoseAccuracy, accuracy_of
from rushes.media.find.endings import VIDEO_SUFFIXES
from rushes.storage.runs import Entry, Subject

CRF = 35
COPY = f"truth-h264-crf{CRF}"
_ABOUT = ("pck", "pckh", "pck_auc", "pckh_auc", "mpjpe", "mpjpe_found", "oks", "velocity_error", "acceleration_error")
_OF_PAIRS = ("pair", "duplicates", "assign")
"""Labels that say how one prediction was chosen for each person; AP and AR look at all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseEvaluation(Answer, Numbers):
    """What a pair of pose files scored, and everything a reader must know about it.

    `done["mpjpe"]` is one number, `done.one("pck", k=20, norm="torso-diameter")` one of several,
    `done.select("pck", joint="left_wrist")` all that match.
    """

    __repr__ = told

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
    settings: ScoreSettings
    """What was scored, and how."""

    @property
    def summary(self) -> str:
        """PCK under every normalisation, MPJPE, and how many frames they rest on."""
        from rushes.instruments.pose.show.words import headline

        return headline(self.measurements, f"{self.pairing.frames} frames")

    @property
    def notes(self) -> tuple[str, ...]:
        """Mismatches, guesses and values that are missing, a line each."""
        from rushes.instruments.pose.show.words import note_lines

        return (*note_lines(self.measurements), *self.warnings)

    def _items(self) -> tuple[Measurement, ...]:
        return self.measurements

    def entry(self, subject_id: str, pred: str, gt: str) -> Entry:
        """The pair as a subject of a run, called by this id."""
        facts: Mapping[str, object] = self.pairing.as_dict() | {
            "gt": gt,
            "reference": {"path": gt, "sha256": file_digest(gt)},
            "skeleton": self.skeleton.name,
            "warnings": list(self.warnings),
        }
        subject = Subject(id=subject_id, kind="pose", path=pred, sha256=file_digest(pred), facts=facts)
        return Entry(subject=subject, measurements=self.measurements, series=_series(self.scores, self.settings))


def score_pair(
    pred: Path | str, gt: Path | str, question: PoseQuestion, *, progress: Progress = no_progress
) -> PoseEvaluation:
    """Read two files (or find the bodies of two clips), put them together and score them."""
    predicted, truth = (load_side(side, question, progress) for side in (pred, gt))
    done = score_sides(predicted, truth, question)
    is_clip = Path(gt).suffix.lower() in VIDEO_SUFFIXES
    if not (question.floor and is_clip and predicted.estimator == truth.estimator):
        return done
    try:
        copy = score_sides(reencoded(gt, truth, progress=progress), truth, question)
    except RushesError as error:
        return replace(done, warnings=(*done.warnings, f"no noise floor: {error}"))
    return replace(done, measurements=(*done.measurements, *floor_rows(copy.measurements)))


def load_side(path: Path | str, question: PoseQuestion, progress: Progress = no_progress) -> PoseSet:
    """The poses of a file, or those found in a clip."""
    if Path(path).suffix.lower() in VIDEO_SUFFIXES:
        from rushes.instruments.pose.files.extract import extract_poses

        return extract_poses(path, progress=progress).pose_set()
    return read_poses(path, columns=question.columns, duplicates=question.duplicates)


def score_sides(predicted: PoseSet, truth: PoseSet, question: PoseQuestion) -> PoseEvaluation:
    """Score poses that were read."""
    body, predicted, truth, notes = sides.agree_on_skeleton(
        predicted, truth, skeleton=question.skeleton, hips=question.hips, head=question.head
    )
    predicted, truth = sides.same_dims(predicted, truth, question.dims)
    predicted, sizes = sides.one_size(predicted, truth, scale=question.fit == "scale")
    pairing, people, lag = _paired(predicted, truth, question, body)
    assign = assignment_rule(question.assign, body) if people is not None else None
    settings = ScoreSettings(
        norms=parse_norms(question.norms, body, px=question.px),
        ks=question.wanted_ks(),
        skeleton=body,
        unit=sides.common_unit(predicted, truth, question.unit),
        root=question.root,
        sequence=predicted.consecutive and truth.consecutive and isinstance(pairing.gt, slice),
        estimator=predicted.estimator or "",
        truth=truth.estimator or "",
        unmatched=question.unmatched,
        labels=question.labels(predicted, truth, pairing, assign),
    )
    done = _score(predicted, truth, pairing, settings, people)
    more = () if lag is None else (variant(lag, replace(settings, labels=()), done.dims),)
    return replace(done, warnings=(*notes, *sizes, *done.warnings), measurements=(*done.measurements, *more))


def _paired(
    pred: PoseSet, gt: PoseSet, question: PoseQuestion, body: Skeleton
) -> tuple[Pairing, PeoplePairing | None, Measurement | None]:
    if question.duplicates != "refuse":
        assign = assignment_rule(question.assign, body)
        largest = question.duplicates == "keep-best"
        people = pair_people(pred, gt, assign=assign, largest_only=largest, unmatched=question.unmatched)
        return people.pairing, people, None
    if question.lag:
        pairing, lag = pair_by_lag(pred, gt, question.lag)
        return pairing, None, lag
    if question.pair == "time":
        return pair_by_time(pred, gt), None, None
    if question.pair == "dtw":
        return pair_by_warping(pred, gt), None, None
    if question.pair == "order":
        pred, gt = replace(pred, ids=None), replace(gt, ids=None)
    return sides.pair_frames(pred, gt, unmatched=question.unmatched), None, None


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
            *_people_measurements(pred, gt, settings, people),
        ),
        warnings=(
            *pose_warnings(pred, gt, pairing, scores.checks, skeleton=body, norms=norms, unmatched=settings.unmatched),
            *_people_warnings(pred, gt, people),
        ),
        skeleton=body,
        dims=batch.columns,
        pairing=pairing,
        scores=scores,
        settings=settings,
    )


def _people_measurements(
    pred: PoseSet, gt: PoseSet, settings: ScoreSettings, people: PeoplePairing | None
) -> Iterator[Measurement]:
    """AP and AR of two COCO files with COCO's joints, and switches where both sides have tracks."""
    found, true = pred.people, gt.people
    if found is not None and true is not None and settings.similarity and not _why_no_ap(pred, gt):
        kept = tuple((key, value) for key, value in settings.labels if key not in _OF_PAIRS)
        own = replace(settings, labels=kept, unmatched="skip")
        for row in ap_measurements(found, true):
            yield variant(row, own, 2)
    if people is not None and (switches := identity_switches(pred, gt, people)) is not None:
        yield variant(switches, settings, 2)


def _people_warnings(pred: PoseSet, gt: PoseSet, people: PeoplePairing | None) -> Iterator[str]:
    """Who was left out, and why there is no AP where somebody might look for it."""
    if people is not None and people.left_out:
        yield f"{gt.path}: {people.left_out} people beside the largest of their image left out (--duplicates keep-best)"
    if people is not None and pred.people is not None and gt.people is not None and (why := _why_no_ap(pred, gt)):
        yield f"no AP and AR: {why}"
    if pred.people is not None and gt.people is not None and gt.people.listed is not None:
        known = set(gt.people.listed)
        if beyond := sum(image not in known for image in pred.people.images):
            yield f"{pred.path}: {beyond} predictions of images that {gt.path} does not list are not in AP and AR"


def _why_no_ap(pred: PoseSet, gt: PoseSet) -> str:
    found, true = pred.people, gt.people
    if not (isinstance(found, CocoPeople) and isinstance(true, CocoPeople)):
        return "both files have to be COCO's"
    if found.keypoints.shape[1] != 17 or true.keypoints.shape[1] != 17:
        return "they are about COCO's 17 joints"
    if np.isnan(found.scores).any():
        return f"{int(np.isnan(found.scores).sum())} of {len(found)} predictions in {pred.path} have no score"
    if np.isnan(true.areas[~true.crowd]).any():
        return f"annotations in {gt.path} have no area"
    return ""


def _series(scores: PoseScores, settings: ScoreSettings) -> dict[str, NDArray[Any]]:
    """Per-frame errors for the timeline, and PCK against k under each normalisation for the chart."""
    series: dict[str, NDArray[Any]] = {
        f"{CURVE_SERIES}{norm.label()}": np.array(found.curve_ratios())
        for norm, found in zip(settings.norms, scores.tally.pck, strict=True)
    }
    if scores.frame_errors:
        series["frame_mpjpe"] = np.concatenate(scores.frame_errors)
    return series


def reencoded(clip: Path | str, truth: PoseSet, *, progress: Progress = no_progress) -> PoseSet:
    """The poses that the estimator finds in a re-encoded copy of a clip."""
    from rushes.instruments.pose.files.extract import extract_poses
    from rushes.media.encode import write_clip

    rate = Fraction(round((truth.fps or 25.0) * 1000), 1000)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.mp4"
        write_clip(copy, _frames(clip), fps=rate, crf=CRF)
        found = extract_poses(copy, progress=progress).pose_set()
    return replace(found, path=f"{clip}, re-encoded")


def _frames(clip: Path | str) -> Iterator[NDArray[Any]]:
    from rushes.media import ClipReader

    with ClipReader(clip) as reader:
        for frame in reader:
            rgb = frame.rgb()
            yield rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]  # yuv420p has even sides; places stay


def floor_rows(measurements: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
    """The copy's numbers as what they are about; single joints are left out."""
    return tuple(replace(m, at=(("copy", COPY),)) for m in measurements if m.name in _ABOUT and not m.at)


def floors(measurements: tuple[Measurement, ...] | list[Measurement]) -> list[Measurement]:
    """Those numbers of a pair that are about the re-encoded truth."""
    return [m for m in measurements if m.place.get("copy") == COPY]
