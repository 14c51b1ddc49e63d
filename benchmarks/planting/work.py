"""Plants every fault in every clip it fits, several clips at a time, and keeps the files for the next time.

Files lie in `FOLDER/<fault>/<clip>.<ending>` for the declared strength, `FOLDER/<fault>@<strength>/…` for the others,
and `FOLDER/clean/…` for the control. What is there is not written again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from rushes.core.errors import InputError, MissingDependency, RushesError
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.landmarks import FacePipeline
from rushes.workers.local import Crash, cpu_count, run_tasks

from .clips import Clip
from .face import find_faces
from .faults import CLEAN, FAULTS, Fault, Material, Strength
from .source import LONGEST_S, SHORTEST_S, Source, read_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One file and what was done to it; `fault` is "" for the control."""

    clip: str
    fault: str
    strength: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One clip to plant everything in; travels to a worker."""

    clip: Clip
    other: Clip | None
    folder: str
    longest_s: float = LONGEST_S
    declared_only: bool = False


def plant_all(
    clips: Sequence[Clip],
    folder: Path,
    *,
    jobs: int | None = None,
    longest_s: float = LONGEST_S,
    declared_only: bool = False,
) -> tuple[list[Planted], list[str]]:
    """Every planted file in the order of clips and faults, and a line for each clip nothing could be planted in."""
    sound = [clip for clip in clips if not clip.faulty]
    speakers = [clip for clip in sound if clip.speech]
    tasks = [
        Task(
            clip=clip,
            other=_other(clip, speakers),
            folder=str(folder),
            longest_s=longest_s,
            declared_only=declared_only,
        )
        for clip in sound
    ]
    results: dict[int, list[Planted]] = {}
    left_out: list[str] = []
    for index, outcome in run_tasks(plant, tasks, jobs=jobs or cpu_count()):
        if isinstance(outcome, Crash):
            raise InputError(f"{tasks[index].clip.path}: planting crashed ({outcome.reason})")
        results[index], why = outcome
        left_out += why
    return [planted for index in sorted(results) for planted in results[index]], sorted(left_out)


def _other(clip: Clip, speakers: Sequence[Clip]) -> Clip | None:
    """The next speaker in the list, round the corner."""
    if clip not in speakers or len(speakers) < 2:
        return None
    return speakers[(speakers.index(clip) + 1) % len(speakers)]


def plant(task: Task) -> tuple[list[Planted], list[str]]:
    """The control and every fault that fits, for one clip; at once where an earlier call has done it."""
    done = _Done(task)
    known = done.read()
    if known is not None:
        return known
    result = _planted(task)
    done.write(result)
    return result


class _Done:
    """A note of what was planted in a clip: decoding it and looking for its face takes longer than reading a note."""

    def __init__(self, task: Task) -> None:
        extent = "declared" if task.declared_only else "all"
        other = task.other.name if task.other else ""
        asked = f"{task.clip.path}|{task.clip.speech}|{other}|{task.longest_s}|{extent}"
        self._path = Path(task.folder) / ".planted" / f"{task.clip.name}-{bytes_digest(asked.encode())[:8]}.json"

    def read(self) -> tuple[list[Planted], list[str]] | None:
        if not self._path.exists():
            return None
        note = json.loads(self._path.read_text("utf-8"))
        files = [Planted(**row) for row in note["files"]]
        return (files, note["left_out"]) if all(Path(file.path).exists() for file in files) else None

    def write(self, result: tuple[list[Planted], list[str]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        files, left_out = result
        self._path.write_text(json.dumps({"files": [asdict(file) for file in files], "left_out": left_out}), "utf-8")


def _planted(task: Task) -> tuple[list[Planted], list[str]]:
    try:
        source = read_source(task.clip.path, task.clip.name, longest_s=task.longest_s)
    except RushesError as error:
        return [], [f"{task.clip.name}: {error}"]
    if source.seconds < SHORTEST_S:
        return [], [f"{task.clip.name}: {source.seconds:.1f} s is too short to plant anything in"]
    material = _material(task, source)
    made = [_made(task, source, material, "", CLEAN)]
    for fault in FAULTS:
        if _fits(fault, task.clip, source, material):
            for strength in fault.strengths:
                if _wanted(task, strength, material):
                    made.append(_made(task, source, material, fault.name, strength))
    return made, []


def _material(task: Task, source: Source) -> Material:
    """Only speakers need more than the clip itself."""
    if not task.clip.speech:
        return Material()
    try:
        faces = find_faces(source, _pipeline())
    except MissingDependency:
        return Material()
    other = None if task.other is None else read_source(task.other.path, longest_s=task.longest_s)
    return Material(faces=faces if faces.present.mean() > 0.5 else None, other=other)


@cache
def _pipeline() -> FacePipeline:
    return FacePipeline(max_faces=2)


def _fits(fault: Fault, clip: Clip, source: Source, material: Material) -> bool:
    here = {"picture": True, "sound": source.sound is not None, "speech": clip.speech and material.faces is not None}
    return here[fault.needs] and fault.fits(source)


def _wanted(task: Task, strength: Strength, material: Material) -> bool:
    if strength.label == "another speaker" and (material.other is None or material.other.sound is None):
        return False
    return strength.declared or not task.declared_only


def _made(task: Task, source: Source, material: Material, fault: str, strength: Strength) -> Planted:
    folder = Path(task.folder) / folder_name(fault, strength)
    path = folder / f"{task.clip.name}{strength.suffix}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name.removesuffix(path.suffix)}.part{path.suffix}")
        os.replace(strength.plant(source, material, part), path)
    return Planted(clip=task.clip.name, fault=fault, strength=strength.label, path=str(path))


def folder_name(fault: str, strength: Strength) -> str:
    """Where the files of one strength lie."""
    if not fault:
        return "clean"
    kind = fault.replace(" ", "-")
    return kind if strength.declared else f"{kind}@{strength.file_label}"


def planted_strengths() -> Iterator[tuple[Fault, Strength]]:
    """Every fault with each of its strengths, in order."""
    for fault in FAULTS:
        for strength in fault.strengths:
            yield fault, strength
