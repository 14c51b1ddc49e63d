"""Folders of poses against folders of true ones: a row per clip, and the set with intervals over clips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from rushes.core import Measurement
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.selection import Numbers
from rushes.core.words.notebook_repr import brief
from rushes.instruments.pose.evaluate import default_run, write_run
from rushes.instruments.pose.files.poses import POSE_SUFFIXES
from rushes.instruments.pose.files.skeletons import COCO_17
from rushes.instruments.pose.measurements import set_measurements
from rushes.instruments.pose.pair_scoring import PoseEvaluation, score_pair
from rushes.instruments.pose.pairing.question import PoseOptions, PoseQuestion, shows_options
from rushes.instruments.pose.scores.normalization import parse_norms
from rushes.media.find.clips import natural_key
from rushes.media.find.endings import VIDEO_SUFFIXES
from rushes.storage.remote.address import local_only
from rushes.storage.runs import Entry, RunWriter, Subject, subject_ids

SET = "all clips"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseSetEvaluation(Numbers):
    """What folders of poses scored: `measurements` are the set's, `clips` has those of each clip by its id."""

    __repr__ = brief

    run: Path
    measurements: tuple[Measurement, ...]
    """Each number twice: `aggregate="pooled"` over every joint, `aggregate="mean"` of the clips, with intervals."""
    clips: Mapping[str, tuple[Measurement, ...]]
    """In order of the truths' names; a clip that could not be scored has its numbers missing, with the reason."""
    failed: Mapping[str, str]
    warnings: tuple[str, ...]


@shows_options
def score_poses(
    pred: Path | str,
    gt: Path | str,
    *,
    run: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
    **options: Unpack[PoseOptions],
) -> PoseSetEvaluation:
    """Score every file (or clip) of a folder against its namesake in a folder of true poses, and write one run.

    Inputs      two folders; files pair by their path below them without ending. Options are those of `score_pose`.
    Result      one subject per clip, called by the truth's name, so that runs of two models over the same truths
                compare clip by clip; and one for the set: pooled over all joints, and as the mean of the clips
    Edge cases  a clip without partner, and one that cannot be scored, is a row with its reason
    Errors      `InputError` where not a single clip can be scored
    """
    local_only(pred, gt, run)
    question = PoseQuestion(**options)
    norms = [norm.label() for norm in parse_norms(question.norms, COCO_17, px=question.px)]
    folders = Path(pred), Path(gt)
    ours, theirs = map(_files, folders)
    if not ours.keys() & theirs.keys():
        raise InputError(
            f"{folders[0]} and {folders[1]}: no file has the same name in both "
            f"({next(iter(ours), 'nothing')} against {next(iter(theirs), 'nothing')}); poses pair by name"
        )
    names = sorted({*ours, *theirs}, key=natural_key)
    *ids, set_id = subject_ids([*names, SET])
    scored: dict[str, PoseEvaluation] = {}
    failed: dict[str, str] = {}
    for done, (subject_id, name) in enumerate(zip(ids, names, strict=True)):
        progress(done, len(names), "clips")
        try:
            for files, what, folder in zip((ours, theirs), ("prediction", "truth"), folders, strict=True):
                if name not in files:
                    raise InputError(f"no {what} of this name in {folder}")
            scored[subject_id] = score_pair(ours[name], theirs[name], question)
        except RushesError as error:
            failed[subject_id] = str(error)
    progress(len(names), len(names), "clips")
    if not scored:
        raise InputError(f"none of the {len(names)} clips could be scored; the first: {next(iter(failed.values()))}")
    template = next(iter(scored.values())).measurements
    entries = [
        scored[each].entry(each, str(ours[name]), str(theirs[name]))
        if each in scored
        else _failed(each, ours.get(name), theirs.get(name), failed[each], template)
        for each, name in zip(ids, names, strict=True)
    ]
    numbers = tuple(set_measurements([entry.measurements for entry in entries]))
    facts = {"gt": str(gt), "pairs": len(names), "scored": len(scored)}
    whole = Subject(id=set_id, kind="set", path=str(pred), sha256=None, facts=facts)
    asked = question.stored() | {
        "gt": str(gt),
        "norms": norms,
        "ks": list(question.wanted_ks()),
        "skeleton": question.skeleton or "",
        "hips": list(question.hips or ()),
        "head": list(question.head or ()),
        "dims": question.dims or 0,
        "unit": question.unit or "",
        "root": question.root,
    }
    target = write_run(
        [*entries, Entry(subject=whole, measurements=numbers)],
        RunWriter(
            default_run([asked, str(pred)]) if run is None else run,
            instrument="pose",
            settings=asked,
            inputs=[str(ours.get(name) or theirs[name]) for name in names],
            asked=[str(pred)],
            overwrite=overwrite,
        ),
    )
    return PoseSetEvaluation(
        run=target,
        measurements=numbers,
        clips={entry.subject.id: entry.measurements for entry in entries},
        failed=failed,
        warnings=(
            *(f"{name}: {why}" for name, why in failed.items()),
            *(line for one in scored.values() for line in one.warnings),
        ),
    )


def _failed(subject_id: str, pred: Path | None, gt: Path | None, why: str, template: Sequence[Measurement]) -> Entry:
    facts: dict[str, object] = {"error": why, "gt": str(gt or "")}
    return Entry(
        subject=Subject(id=subject_id, kind="pose", path=str(pred or gt), sha256=None, facts=facts),
        measurements=tuple(Measurement.missing(m.definition, why, at=m.at) for m in template),
    )


def _files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder of poses or clips; against a folder goes a folder")
    found: dict[str, Path] = {}
    for name, path in pose_files(folder):
        if name in found:
            raise InputError(f"{folder}: {found[name].name} and {path.name} share a name; keep one of them")
        found[name] = path
    return found


def pose_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files of poses and clips in a folder by their path below it without ending, in natural order."""
    for path in sorted(folder.rglob("*"), key=lambda path: natural_key(path.as_posix())):
        if path.suffix.lower() in {*POSE_SUFFIXES, *VIDEO_SUFFIXES} and path.is_file():
            yield path.relative_to(folder).with_suffix("").as_posix(), path
