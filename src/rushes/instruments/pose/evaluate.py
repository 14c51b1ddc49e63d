"""Scoring poses: two files (or two clips) in, labelled numbers and a run directory out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.instruments.pose.pair_scoring import PoseEvaluation as PoseEvaluation
from rushes.instruments.pose.pair_scoring import score_pair
from rushes.instruments.pose.pairing.question import PoseOptions, PoseQuestion, shows_options
from rushes.storage.remote.address import local_only
from rushes.storage.runs import Entry, RunWriter, subject_ids


@shows_options
def score_pose(
    pred: Path | str,
    gt: Path | str,
    *,
    run: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
    **options: Unpack[PoseOptions],
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
                re-encoded copy of it (see `pose/scores/noise_floor.py`); it costs half as much time again.
    Errors      `InputError` with the file and the frame: different joints, 2-D against 3-D, nothing that pairs.
    """
    local_only(pred, gt, run)
    for side in (pred, gt):
        if Path(side).is_dir():
            raise InputError(f"{side}: is a folder; two folders of poses are scored by score_poses")
    question = PoseQuestion(**options)
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
