"""Which clips get which fault, and planting them, several clips at a time; files are kept for the next time.

A cell is one fault at one strength through one encoder. Each has its own sample of clips (`cells`): other ones for
every encoder, the first of those of the declared strength at every other one, decided by names alone. Files lie in
`FOLDER/<encoder>/<fault>@<strength>/`, the controls in `FOLDER/<encoder>/clean/`. What is there is not written again.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from rushes.core.errors import InputError, MissingDependency, RushesError
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.landmarks import FacePipeline
from rushes.workers.local import Crash, cpu_count, run_tasks

from .clips import Clip
from .facts import Facts, facts_of
from .faults import BENIGN, CLEAN, FAULTS, Fault, Material, Plant, Strength
from .kinds.face import find_faces
from .source import ENCODERS, LONGEST_S, SHORTEST_S, Source, read_source

SAMPLE = 3
"""Clips a cell at a declared strength; with three encoders three times as many a kind."""
OTHER_SAMPLE = 1
"""Clips a cell at the other strengths: they show where finding ends, and nothing is claimed of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One file and what was done to it; `fault` is "" for a control, and `benign` names what belongs there."""

    clip: str
    fault: str
    strength: str
    encoder: str
    path: str
    benign: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What to plant in a clip, by names: travels to a worker."""

    fault: str
    strength: str
    encoder: str
    benign: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One clip and everything to plant in it."""

    clip: Clip
    folder: str
    cells: tuple[Cell, ...]
    other: Clip | None = None
    longest_s: float = LONGEST_S


def plant_all(
    clips: Sequence[Clip],
    folder: Path,
    *,
    jobs: int | None = None,
    longest_s: float = LONGEST_S,
    declared_only: bool = False,
    sample: int = SAMPLE,
    benign_sample: int | None = None,
    faults: Sequence[Fault] = FAULTS,
) -> tuple[list[Planted], list[str]]:
    """Every planted file in the order of clips and cells, and a line for each clip nothing could be planted in."""
    usable = [clip for clip in clips if not clip.faulty]
    facts, left_out = clip_facts(usable, folder, jobs=jobs, longest_s=longest_s)
    known = [clip for clip in usable if clip.name in facts]
    planned = cells(
        known, facts, sample=sample, benign_sample=benign_sample, faults=faults, declared_only=declared_only
    )
    tasks = [
        Task(clip=clip, folder=str(folder), cells=planned[clip.name], other=_other(clip, known), longest_s=longest_s)
        for clip in known
    ]
    made: list[Planted] = []
    for found in _in_order(plant, tasks, jobs):
        made += found
    return made, left_out


def _in_order(work: object, tasks: Sequence[Task], jobs: int | None) -> list[object]:
    results: dict[int, object] = {}
    for index, outcome in run_tasks(work, tasks, jobs=jobs or cpu_count()):  # type: ignore[arg-type]
        if isinstance(outcome, Crash):
            raise InputError(f"{tasks[index].clip.path}: planting crashed ({outcome.reason})")
        results[index] = outcome
    return [results[index] for index in sorted(results)]


def clip_facts(
    clips: Sequence[Clip], folder: Path, *, jobs: int | None = None, longest_s: float = LONGEST_S
) -> tuple[dict[str, Facts], list[str]]:
    """Facts by clip, and why a clip has none."""
    tasks = [Task(clip=clip, folder=str(folder), cells=(), longest_s=longest_s) for clip in clips]
    facts, left_out = {}, []
    for clip, found in zip(clips, _in_order(look, tasks, jobs), strict=True):
        if isinstance(found, str):
            left_out.append(f"{clip.name}: {found}")
        else:
            facts[clip.name] = found
    return facts, sorted(left_out)  # type: ignore[return-value]


def look(task: Task) -> Facts | str:
    """A clip's facts, or why nothing is planted in it; kept in a note."""
    note = Path(task.folder) / ".facts" / f"{task.clip.name}-{bytes_digest(str(task.clip.path).encode())[:8]}.json"
    if note.exists():
        known = json.loads(note.read_text("utf-8"))
        return known if isinstance(known, str) else Facts(**known)
    try:
        source = read_source(task.clip.path, task.clip.name, longest_s=task.longest_s)
        short = f"{source.seconds:.1f} s is too short to plant anything in"
        found: Facts | str = facts_of(source) if source.seconds >= SHORTEST_S else short
    except RushesError as error:
        found = str(error)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(found if isinstance(found, str) else asdict(found)), "utf-8")
    return found


def cells(
    clips: Sequence[Clip],
    facts: Mapping[str, Facts],
    *,
    sample: int = SAMPLE,
    benign_sample: int | None = None,
    faults: Sequence[Fault] = FAULTS,
    declared_only: bool = False,
) -> dict[str, tuple[Cell, ...]]:
    """What is planted in each clip, split by split: the samples, and a control of each clip through their encoders.

    A clip without a sample has one control, through an encoder decided by its name.
    """
    chosen: defaultdict[str, list[Cell]] = defaultdict(list)
    for split in sorted({clip.split for clip in clips}):
        here = [clip for clip in clips if clip.split == split]
        for fault in faults:
            fitting = [c for c in here if _needs(fault, c, facts[c.name]) and fault.fits(facts[c.name])]
            for encoder, some in _samples(fault.name, fitting, sample):
                for strength in fault.strengths:
                    if strength.declared or not declared_only:
                        for clip in some if strength.declared else some[:OTHER_SAMPLE]:
                            chosen[clip.name].append(Cell(fault=fault.name, strength=strength.label, encoder=encoder))
        for one in BENIGN:
            fitting = [c for c in here if c.kind in one.kinds and one.fits(facts[c.name])]
            for encoder, some in _samples(one.name, fitting, sample if benign_sample is None else benign_sample):
                for clip in some:
                    chosen[clip.name].append(Cell(fault=one.name, strength="", encoder=encoder, benign=True))
    return {clip.name: (*_controls(clip, chosen[clip.name]), *chosen[clip.name]) for clip in clips}


def _controls(clip: Clip, planted: Sequence[Cell]) -> list[Cell]:
    one = ENCODERS[int(bytes_digest(clip.name.encode())[:8], 16) % len(ENCODERS)].name
    used = {cell.encoder for cell in planted} or {one}
    return [Cell(fault="", strength=CLEAN.label, encoder=e.name) for e in ENCODERS if e.name in used]


def _needs(fault: Fault, clip: Clip, facts: Facts) -> bool:
    here = {
        "picture": clip.kind != "screen",
        "sound": facts.audible,
        "speech": clip.speech and facts.audible,
        "face": clip.kind in ("speech", "face"),
    }
    return here[fault.needs]


def _samples(name: str, clips: Sequence[Clip], sample: int) -> list[tuple[str, list[Clip]]]:
    """For each encoder the next clips in an order decided by names."""
    order = sorted(clips, key=lambda clip: bytes_digest(f"{name}|{clip.name}".encode()))
    count, apart = (
        min(sample, len(order)),
        min(max(sample, SAMPLE), len(order)),
    )  # a smaller sample is part of a larger one
    return [
        (encoder.name, [order[(k * apart + n) % len(order)] for n in range(count)])
        for k, encoder in enumerate(ENCODERS)
    ]


def _other(clip: Clip, clips: Sequence[Clip]) -> Clip | None:
    """The next clip of its split and kind of another source, round the corner: another speaker for a speaker."""
    alike = [c for c in clips if c.split == clip.split and (c.kind == clip.kind)]
    after = [*alike[alike.index(clip) + 1 :], *alike[: alike.index(clip)]]
    return next((c for c in after if c.source != clip.source), after[0] if after else None)


def plant(task: Task) -> list[Planted]:
    """Everything of one clip; what is there already is not made again."""
    targets = [(cell, _path(task, cell)) for cell in task.cells]
    if any(not path.exists() for _, path in targets):
        targets = _write(task, targets)
    return [
        Planted(
            clip=task.clip.name,
            fault="" if cell.benign else cell.fault,
            benign=cell.fault if cell.benign else "",
            strength=cell.strength,
            encoder=cell.encoder,
            path=str(path),
        )
        for cell, path in targets
        if path.exists()
    ]


def _write(task: Task, targets: list[tuple[Cell, Path]]) -> list[tuple[Cell, Path]]:
    source = read_source(task.clip.path, task.clip.name, longest_s=task.longest_s)
    missing = [(cell, path) for cell, path in targets if not path.exists()]
    uses = {use for cell, _ in missing for use in _uses(cell)}
    material = _material(task, source, uses)
    for cell, path in missing:
        if all(_has(material, use) for use in _uses(cell)):
            encoder = next(e for e in ENCODERS if e.name == cell.encoder)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.stem}.part{path.suffix}")
            os.replace(_plant_of(cell)(replace(source, encoder=encoder), material, part), path)
    return targets


def _has(material: Material, use: str) -> bool:
    other_ready = material.other is not None and material.other.frames
    return material.faces is not None if use == "faces" else bool(other_ready)


@cache
def _fault(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


def _strength(cell: Cell) -> Strength:
    return next(s for s in _fault(cell.fault).strengths if s.label == cell.strength)


def _plant_of(cell: Cell) -> Plant:
    if cell.benign:
        return next(one.plant for one in BENIGN if one.name == cell.fault)
    return CLEAN.plant if not cell.fault else _strength(cell).plant


def _uses(cell: Cell) -> tuple[str, ...]:
    if cell.benign:
        return next(one.uses for one in BENIGN if one.name == cell.fault)
    return _fault(cell.fault).uses if cell.fault else ()


def _path(task: Task, cell: Cell) -> Path:
    encoder = next(e for e in ENCODERS if e.name == cell.encoder)
    suffix = _strength(cell).suffix if cell.fault and not cell.benign else ".mp4"
    kind = cell.fault.replace(" ", "-") or "clean"
    if cell.benign:
        kind = f"fine-{kind}"
    elif cell.fault:
        kind = f"{kind}@{_strength(cell).file_label}"
    return Path(task.folder) / encoder.file_label / kind / f"{task.clip.name}{suffix}"


def _material(task: Task, source: Source, uses: set[str]) -> Material:
    faces, other = None, None
    if "faces" in uses:
        try:
            found = find_faces(source, _pipeline())
            faces = found if found.present.mean() > 0.5 else None
        except MissingDependency:
            faces = None
    if "other" in uses and task.other is not None:
        other = read_source(task.other.path, longest_s=task.longest_s)
    return Material(faces=faces, other=other)


@cache
def _pipeline() -> FacePipeline:
    return FacePipeline(max_faces=2)
