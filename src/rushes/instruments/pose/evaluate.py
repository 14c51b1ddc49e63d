"""Scoring poses: two files (or two clips) in, labelled numbers and a run directory out.

Folders of poses go against folders of true ones: a row per clip, and the set with intervals over clips.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, Unpack

from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.core.selection import Numbers
from rushes.core.words.options import in_shell
from rushes.instruments.pose.files.json_poses import Duplicates
from rushes.instruments.pose.files.poses import POSE_SUFFIXES, Columns
from rushes.instruments.pose.files.skeletons import COCO_17
from rushes.instruments.pose.measurements import set_measurements
from rushes.instruments.pose.pair_scoring import PoseEvaluation as PoseEvaluation
from rushes.instruments.pose.pair_scoring import score_pair
from rushes.instruments.pose.pairing.files import Unmatched
from rushes.instruments.pose.pairing.people import Assign
from rushes.instruments.pose.pairing.question import DEFAULT_KS, Fit, PairBy, PoseOptions, PoseQuestion
from rushes.instruments.pose.scores.normalization import DEFAULT_PX, parse_norms
from rushes.instruments.pose.scoring import Root
from rushes.media.find.clips import natural_key
from rushes.media.find.endings import VIDEO_SUFFIXES
from rushes.storage.remote.address import local_only
from rushes.storage.runs import Entry, RunWriter, Subject, subject_ids

SET = "all clips"


def score_pose(
    pred: Path | str,
    gt: Path | str,
    *,
    norms: str | Iterable[str],
    ks: float | Iterable[float] = DEFAULT_KS,
    skeleton: str | None = None,
    hips: tuple[int, int] | None = None,
    head: tuple[int, int] | None = None,
    columns: Columns | None = None,
    dims: Literal[2, 3] | None = None,
    unit: str | None = None,
    root: Root = "as-given",
    px: float = DEFAULT_PX,
    pair: PairBy = "auto",
    lag: int = 0,
    fit: Fit = "refuse",
    duplicates: Duplicates = "refuse",
    assign: Assign | None = None,
    unmatched: Unmatched = "skip",
    floor: bool = True,
    run: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> PoseEvaluation:
    """Score predicted poses against true ones and write a run directory. Of folders of them: `score_poses`.

    Inputs      COCO key point JSON, JSON lines, `.npy`, `.npz`, or clips, whose bodies are then found first.
                norms: one or several of `NORMALIZATIONS` by name (`torso-diameter`, `absolute-px=8`), or `all`,
                torso, box and pixels, with `px` as the absolute threshold. `run` defaults to `runs/pose-<digest>`; one
                of other files is refused, unless `overwrite` starts it anew.
                pair: frames by image id or else in order (`auto`), in order, by `time` or by `dtw`; lag: how many
                frames to search each way for the shift that fits best; fit: whether a prediction in pictures of
                another size is scaled; duplicates, assign: several people in an image, see `pose/pairing/people.py`.
                What departs from the default is in every signature. floor: where the truth is a clip, also score a
                re-encoded copy of it (see `pose/pair_scoring.py`); it costs half as much time again.
    Errors      `InputError` with the file and the frame: different joints, 2-D against 3-D, nothing that pairs.
    """
    given = locals()  # the options are the fields of a `PoseQuestion`, by the same names
    local_only(pred, gt, run)
    for side in (pred, gt):
        if Path(side).is_dir():
            raise InputError(f"{side}: is a folder; use score_poses for two folders of poses")
    question = PoseQuestion(**{field.name: given[field.name] for field in fields(PoseQuestion)})
    scored = score_pair(pred, gt, question, progress=progress)
    return _store(scored, str(pred), str(gt), question, None if run is None else Path(run), overwrite=overwrite)


def _store(
    done: PoseEvaluation, pred: str, gt: str, question: PoseQuestion, run: Path | None, *, overwrite: bool
) -> PoseEvaluation:
    asked = question.stored() | {"gt_sha256": file_digest(gt)} | settled(done)
    target = default_run([asked, pred, gt]) if run is None else run
    (subject_id,) = subject_ids([Path(pred).stem])
    entry = done.entry(subject_id, pred, gt)
    writer = RunWriter(target, instrument="pose", settings=asked, inputs=[pred, gt], overwrite=overwrite)
    return replace(done, run=write_run([entry], writer))


def default_run(question: Sequence[object]) -> Path:
    """Where a run is written that nobody named: the same question goes to the same place."""
    return Path("runs") / f"pose-{bytes_digest(canonical_json(question).encode())[:8]}"


def write_run(entries: Sequence[Entry], writer: RunWriter) -> Path:
    """Write a whole run; where it lies."""
    with writer:
        for entry in entries:
            writer.add(entry)
        writer.finish([entry.subject.id for entry in entries])
    return writer.path


def settled(done: PoseEvaluation) -> dict[str, object]:
    """What the files and the question settled together, for `run.json`."""
    settings = done.settings
    return {
        "norms": [norm.label() for norm in settings.norms],
        "ks": list(settings.ks),
        "skeleton": done.skeleton.name,
        "head": list(done.skeleton.head or ()),
        "dims": done.dims,
        "unit": settings.unit,
        "root": settings.root,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseSetEvaluation(Answer, Numbers):
    """What folders of poses scored: `measurements` are the set's, `clips` has those of each clip by its id."""

    __repr__ = told

    run: Path
    measurements: tuple[Measurement, ...]
    """Each number twice: `aggregate="pooled"` over every joint, `aggregate="mean"` of the clips, with intervals."""
    clips: Mapping[str, tuple[Measurement, ...]]
    """In order of the truths' names; a clip that could not be scored has its numbers missing, with the reason."""
    failed: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def summary(self) -> str:
        """PCK under every normalisation and MPJPE of the set, and how many clips they rest on."""
        from rushes.instruments.pose.show.words import headline

        scored = len(self.clips) - len(self.failed)
        pooled = [m for m in self.measurements if m.definition.param("aggregate") == "mean"] or self.measurements
        return headline(pooled, f"mean over {scored} of {len(self.clips)} clips")

    @property
    def notes(self) -> tuple[str, ...]:
        """Clips that could not be scored, and what else to know."""
        why = next(iter(self.failed.values()), "")
        lost = f"{len(self.failed)} of {len(self.clips)} clips could not be scored: {why}"
        return ((lost,) if self.failed else ()) + self.warnings

    def _items(self) -> tuple[Measurement, ...]:
        return self.measurements


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
            with in_shell():  # a stored reason reads the same, whoever asked
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
        raise InputError(f"{folder}: expected a folder of poses or clips, as on the other side")
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


def pose(
    pred: Path | str,
    gt: Path | str,
    *,
    run: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
    **options: Unpack[PoseOptions],
) -> PoseEvaluation | PoseSetEvaluation:
    """Score predicted poses against true ones: two files or clips, or two folders of them.

        rushes.pose("pred.npz", "gt.npz", norms="torso-diameter").summary

    Args:
        pred, gt: COCO key point JSON, JSON lines, `.npy`, `.npz`, or clips, whose bodies are found first; or folders.
        norms: what PCK is measured against: "torso-diameter", "bbox-diagonal", "head-size", "absolute-px=8", or "all";
            one or several. Required: PCK is undefined without it.
        ks: percentages of the reference length; 5, 10, 20 and 50 by default.
        progress: called while it works.
        run, overwrite: as in `rushes.clips`; `runs/pose-<digest>` by default.
        options: those of `score_pose`: `skeleton`, `hips`, `head`, `columns`, `dims`, `unit`, `root`, `px`, `pair`,
            `lag`, `fit`, `duplicates`, `assign`, `unmatched`, `floor`.

    Returns:
        A `PoseEvaluation` of two files, a `PoseSetEvaluation` of two folders: PCK and MPJPE, each with its signature.

    Raises:
        InputError: different joints, 2-D against 3-D, nothing that pairs; with the file and the frame.
    """
    score = score_poses if Path(pred).is_dir() or Path(gt).is_dir() else score_pose
    return score(pred, gt, run=run, overwrite=overwrite, progress=progress, **options)
