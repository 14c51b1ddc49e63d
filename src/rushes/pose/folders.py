"""Folders of poses against folders of true ones: a row per clip, and the set with intervals over clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from rushes.core import Measurement
from rushes.core.canonical import canonical_json
from rushes.core.progress import Progress, no_progress
from rushes.core.provenance import bytes_digest
from rushes.core.selection import Numbers
from rushes.core.showing import brief
from rushes.errors import InputError, RushesError
from rushes.media.endings import VIDEO_SUFFIXES
from rushes.media.find import natural_key
from rushes.pose.clip_means import set_measurements
from rushes.pose.normalization import parse_norms
from rushes.pose.pair_scoring import PoseEvaluation, score_pair
from rushes.pose.poses import POSE_SUFFIXES
from rushes.pose.question import PoseOptions, PoseQuestion
from rushes.pose.skeletons import COCO_17
from rushes.remote.address import local_only
from rushes.runs import Entry, RunWriter, Subject, subject_ids

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    name: str
    pred: Path | None
    gt: Path | None
    missing: str = ""


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
    pairs = _pairs(Path(pred), Path(gt))
    *ids, set_id = subject_ids([*(pair.name for pair in pairs), SET])
    scored: dict[str, PoseEvaluation] = {}
    failed: dict[str, str] = {}
    for done, (subject_id, pair) in enumerate(zip(ids, pairs, strict=True)):
        progress(done, len(pairs), "clips")
        if pair.pred is None or pair.gt is None:
            failed[subject_id] = pair.missing
            continue
        try:
            scored[subject_id] = score_pair(pair.pred, pair.gt, question)
        except RushesError as error:
            failed[subject_id] = str(error)
    progress(len(pairs), len(pairs), "clips")
    if not scored:
        raise InputError(f"none of the {len(pairs)} clips could be scored; the first: {next(iter(failed.values()))}")
    template = next(iter(scored.values())).measurements
    entries = [
        scored[each].entry(each, str(pair.pred), str(pair.gt))
        if each in scored
        else _failed(each, pair, failed[each], template)
        for each, pair in zip(ids, pairs, strict=True)
    ]
    numbers = tuple(set_measurements([entry.measurements for entry in entries]))
    facts = {"gt": str(gt), "pairs": len(pairs), "scored": len(scored)}
    whole = Entry(
        subject=Subject(id=set_id, kind="set", path=str(pred), sha256=None, facts=facts), measurements=numbers
    )
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
    digest = bytes_digest(canonical_json([asked, str(pred)]).encode())[:8]
    target = Path("runs") / f"pose-{digest}" if run is None else Path(run)
    inputs = [str(pair.pred or pair.gt) for pair in pairs]
    with RunWriter(
        target, instrument="pose", settings=asked, inputs=inputs, asked=[str(pred)], overwrite=overwrite
    ) as writer:
        for entry in (*entries, whole):
            writer.add(entry)
        writer.finish([*ids, set_id])
    return PoseSetEvaluation(
        run=target,
        measurements=numbers,
        clips={entry.subject.id: entry.measurements for entry in entries},
        failed=failed,
        warnings=tuple(_told(scored, failed)),
    )


def _told(scored: Mapping[str, PoseEvaluation], failed: Mapping[str, str]) -> list[str]:
    """What a reader must know: clips that could not be scored, then each clip's own remarks."""
    lines = [f"{name}: {why}" for name, why in failed.items()]
    return lines + [line for done in scored.values() for line in done.warnings]


def _failed(subject_id: str, pair: _Pair, why: str, template: Sequence[Measurement]) -> Entry:
    path = str(pair.pred or pair.gt)
    facts: dict[str, object] = {"error": why, "gt": str(pair.gt or "")}
    return Entry(
        subject=Subject(id=subject_id, kind="pose", path=path, sha256=None, facts=facts),
        measurements=tuple(Measurement.missing(m.definition, why, at=m.at) for m in template),
    )


def _pairs(pred: Path, gt: Path) -> list[_Pair]:
    """Files of both folders by name, in the truths' natural order; those of one side alone with what is missing."""
    ours, theirs = _files(pred), _files(gt)
    names = sorted({*ours, *theirs}, key=natural_key)
    if not ours.keys() & theirs.keys():
        raise InputError(
            f"{pred} and {gt}: no file has the same name in both "
            f"({next(iter(ours), 'nothing')} against {next(iter(theirs), 'nothing')}); poses pair by name"
        )
    return [
        _Pair(
            name=name,
            pred=ours.get(name),
            gt=theirs.get(name),
            missing=f"no prediction of this name in {pred}" if name not in ours else f"no truth of this name in {gt}",
        )
        for name in names
    ]


def _files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder of poses or clips; against a folder goes a folder")
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*"), key=lambda path: natural_key(path.as_posix())):
        if path.suffix.lower() in {*POSE_SUFFIXES, *VIDEO_SUFFIXES} and path.is_file():
            name = path.relative_to(folder).with_suffix("").as_posix()
            if name in found:
                raise InputError(f"{folder}: {found[name].name} and {path.name} share a name; keep one of them")
            found[name] = path
    return found
