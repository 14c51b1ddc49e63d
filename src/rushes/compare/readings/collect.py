"""From runs to a board's data: systems, prompts, and every reading that was measured alike for all of them.

A mean is over the prompts for which every system that has the reading has a value (`over:shared-prompts` in its
signature): a system that lacks its hard prompts would look better than it is otherwise. What is missing is a cell
without a value, and a remark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rushes.compare.board.model import PEOPLE, BoardClip, BoardData, System
from rushes.compare.board.reference_differences import with_declared_differences
from rushes.compare.definitions.agreement import require_same_definitions
from rushes.compare.readings.alike_columns import alike_remarks, choose_columns
from rushes.compare.readings.columns import WHOLE, Column, Columns, tell_apart
from rushes.compare.readings.people import PeopleColumns, credentials_beside, people_columns
from rushes.compare.readings.remarks import (
    double_remarks,
    media_remarks,
    prompt_remarks,
    run_remarks,
    some,
    stray_remarks,
)
from rushes.compare.readings.samples import Cell, average_samples, mean_over_prompts, over_prompts, sample_remarks
from rushes.compare.readings.systems import FoundSystem, Gathered, PromptIndex, gather
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.core.reading import Reading, ReadingKey
from rushes.instruments.catalogue import readings_of
from rushes.storage.runs import Run, Subject
from rushes.storage.runs.readings import whole_readings
from rushes.suite.prompts import Prompt

_CLIP = "clip"


def collect_board(place: Path | str | Run | Iterable[Path | str | Run], *, unlisted: bool = False) -> BoardData:
    """Everything that a board shows, from a folder of `rushes suite run` or from runs.

        board = collect_board("out/takes")
        board = collect_board(["amber=runs/amber", "birch=runs/birch", "runs/votes"])

    A run given by hand belongs to the system that its generated folder is called, or to NAME of NAME=RUN; several runs
    of one folder are one system, and a run of a study is about all systems. Clips answer the same prompt where they are
    called alike below their systems' folders, or as the suite's prompts say. Raises `InputError` where nothing is given
    or no number can be shown, `RunError` for a place that is no run. With `unlisted`, `others` also has the metrics
    that a board leaves out (blinks, shares of frozen frames …), for tables and figures that ask for them by name.
    """
    found = gather(place)
    require_same_definitions([run for system in found.systems for run in system.runs])
    index = PromptIndex(found.prompts, found.systems)
    columns = Columns()
    matrix = {system.name: _answers(system, index) for system in found.systems}
    for system in found.systems:
        _add_system(columns, system, index, matrix[system.name])
    remarks = [*found.remarks, *run_remarks(found.systems), *_add_studies(columns, found)]
    kept, refused = columns.settled()
    samples = {name: row.samples for name, row in matrix.items()}
    average_samples(kept, samples)
    answers = {name: row.subjects for name, row in matrix.items()}
    shown, others = choose_columns(kept, answers)
    tell_apart(shown)
    names = [system.name for system in found.systems]
    prompts = index.prompts
    readings = [column.reading for column in shown]
    remarks += prompt_remarks(index, answers, {name: row.doubles for name, row in matrix.items()})
    remarks += sample_remarks(samples)
    remarks += stray_remarks({name: row.strays for name, row in matrix.items()})
    remarks += [*double_remarks(answers), *media_remarks(prompts, readings, answers)]
    remarks += alike_remarks(shown, others, answers)
    differences = () if found.suite is None else found.suite.suite.differences
    hidden: list[Column] = []
    if unlisted or differences:
        hidden = _unlisted(found.systems, index, matrix, known={column.reading.key for column in kept})
        others += hidden
    values, whole = _values([*shown, *others], names, prompts, matrix)
    people = PeopleColumns() if found.suite is None else people_columns(found.suite, names, index)
    remarks += people.remarks
    asked = bool(found.suite and found.suite.suite.asked) or any(run.instrument == PEOPLE for run in found.studies)
    data = BoardData(
        systems=tuple(
            System(name=system.name, runs=(*system.runs, *(run for run in found.studies if _names(run, system.name))))
            for system in found.systems
        ),
        prompts=prompts,
        readings=(*people.readings, *sorted(readings, key=lambda reading: reading.instrument != PEOPLE)),
        others=tuple(column.reading for column in others),
        values=people.values | values,
        whole=people.whole | whole,
        clips=_clips(found.systems, matrix),
        refused=tuple(dict.fromkeys(refused)),
        reference=_reference(found),
        asked=asked,
        answers=people.answers,
        credentials=credentials_beside(found.suite),
        kind="" if found.suite is None else found.suite.suite.kind,
        remarks=tuple(dict.fromkeys(remarks)),
    )
    data = with_declared_differences(data, differences)
    return data if unlisted else _without(data, {column.reading.key for column in hidden})


def _without(data: BoardData, keys: Collection[ReadingKey]) -> BoardData:
    """The board without columns that were needed on the way."""
    return replace(
        data,
        others=tuple(one for one in data.others if one.key not in keys),
        values={at: row for at, row in data.values.items() if at[1] not in keys},
        whole={at: m for at, m in data.whole.items() if at[1] not in keys},
    )


@dataclass(slots=True, kw_only=True)
class _Answers:
    """A system's clips by prompt."""

    by_subject: dict[tuple[int, str], str] = field(default_factory=dict)
    """Key of a subject's cell: by the place of its run among the system's, and its id there."""
    samples: dict[str, list[tuple[Cell, Subject]]] = field(default_factory=dict)
    """By prompt: its clips, one unless they are numbered samples."""
    subjects: dict[str, Subject] = field(default_factory=dict)
    """By prompt: its clip, of several samples the first."""
    runs: dict[str, int] = field(default_factory=dict)
    """By prompt: the run that has the clip's series."""
    doubles: dict[str, list[str]] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)


def _answers(system: FoundSystem, index: PromptIndex) -> _Answers:
    places, roots = {id(run): n for n, run in enumerate(system.runs)}, index.roots(system)
    claims: dict[tuple[Cell, int], list[Subject]] = {}
    found = _Answers()
    strays: dict[str, None] = {}
    for run, subject in index.prompted(system):
        cell = index.cell(name := roots.name(subject))
        if cell is None:
            strays[name] = None
        else:
            claims.setdefault((cell, places[id(run)]), []).append(subject)
    found.strays = list(strays)
    found.doubles = _doubles(claims)
    clips: dict[Cell, tuple[Subject, int]] = {}
    for (cell, place), (subject, *_) in claims.items():
        if cell.prompt in found.doubles:
            continue
        found.by_subject[place, subject.id] = cell.key
        if roots.has(subject) and (cell not in clips or (subject.kind == "clip" and clips[cell][0].kind != "clip")):
            clips[cell] = subject, place
    for cell, (subject, place) in clips.items():
        found.samples.setdefault(cell.prompt, []).append((cell, subject))
        if cell.prompt not in found.subjects:
            found.subjects[cell.prompt], found.runs[cell.prompt] = subject, place
    found.subjects = {p.id: found.subjects[p.id] for p in index.prompts if p.id in found.subjects}
    return found


def _doubles(claims: Mapping[tuple[Cell, int], list[Subject]]) -> dict[str, list[str]]:
    """By prompt: clips of which nobody can say which answers it. So has one with a clip of its own and samples."""
    cells = grouped(((cell.prompt, place), cell) for cell, place in claims)
    found: dict[str, list[str]] = {}
    for (prompt, place), row in cells.items():
        paths = [subject.path for cell in row for subject in claims[cell, place]]
        is_mixed = len(row) > 1 and not all(cell.sample for cell in row)
        if is_mixed or len(paths) > len(row):
            found.setdefault(prompt, paths)
    return found


def _add_system(columns: Columns, system: FoundSystem, index: PromptIndex, answers: _Answers) -> None:
    for place, run in enumerate(system.runs):
        cells = {subject.id: WHOLE for subject in run.subjects if subject.kind not in index.kinds}
        cells |= {subject: cell for (where, subject), cell in answers.by_subject.items() if where == place}
        for reading in readings_of(run):
            columns.add(system.name, reading, cells)


def _unlisted(
    systems: Iterable[FoundSystem], index: PromptIndex, matrix: Mapping[str, _Answers], *, known: Collection[ReadingKey]
) -> list[Column]:
    """Metrics of clips that are no column of a board, each in the form that compares most clips."""
    columns = Columns()
    for system in systems:
        answers = matrix[system.name]
        for place, run in enumerate(system.runs):
            cells = {subject: cell for (where, subject), cell in answers.by_subject.items() if where == place}
            for reading in whole_readings(run) if run.instrument == _CLIP else ():
                if replace(reading, at=()).key not in known:
                    columns.add(system.name, reading, cells)
    kept = columns.settled()[0]
    average_samples(kept, {name: row.samples for name, row in matrix.items()})
    shown = choose_columns(kept, {name: row.subjects for name, row in matrix.items()})[0]
    tell_apart(shown)
    return shown


def _add_studies(columns: Columns, found: Gathered) -> list[str]:
    """Numbers of studies go to the systems that they name; a line about those that a study or the board lacks."""
    names = [system.name for system in found.systems]
    remarks = []
    for run in found.studies:
        readings = grouped((dict(reading.at).get("system", ""), reading) for reading in readings_of(run))
        for name in names:
            for reading in readings.get(name, ()):
                columns.add(name, reading, dict.fromkeys(reading.values, WHOLE))
        if run.status != "complete":
            remarks.append(f"{run.place} is {run.status}; run the command again")
        if strangers := [name for name in readings if name not in names]:
            remarks.append(f"{run.place}: systems of the study that are not on this board: {some(strangers)}")
        if not readings:
            remarks.append(f"{run.place}: the study has no strength of a system")
    return remarks


def _reference(found: Gathered) -> str:
    declared = () if found.suite is None else found.suite.suite.systems
    return next((system.name for system in declared if system.is_reference), "")


def _names(study: Run, system: str) -> bool:
    """Whether a study has a number of this system."""
    return any(m.place.get("system") == system for m in study.select())


def _values(
    columns: Iterable[Column], names: list[str], prompts: tuple[Prompt, ...], matrix: Mapping[str, _Answers]
) -> tuple[dict[tuple[str, ReadingKey], dict[str, Measurement]], dict[tuple[str, ReadingKey], Measurement]]:
    values: dict[tuple[str, ReadingKey], dict[str, Measurement]] = {}
    whole: dict[tuple[str, ReadingKey], Measurement] = {}
    for column in columns:
        reading = column.reading
        if not reading.per_prompt:
            for name in names:
                whole[name, reading.key] = column.cells.get(name, {}).get(WHOLE) or _unmeasured(reading, name)
            continue
        having = column.systems
        shared = [
            prompt.id
            for prompt in prompts
            if all((m := column.cells[name].get(prompt.id)) is not None and m.value is not None for name in having)
        ]
        for name in names:
            row = column.cells.get(name, {})
            values[name, reading.key] = {
                prompt.id: row.get(prompt.id) or _absent(reading, name, prompt.id, matrix[name])
                for prompt in prompts
                if row
            }
            whole[name, reading.key] = _mean(reading, name, having, row, shared, prompts)
    return values, whole


def _mean(
    reading: Reading,
    name: str,
    having: frozenset[str],
    row: Mapping[str, Measurement],
    shared: list[str],
    prompts: tuple[Prompt, ...],
) -> Measurement:
    definition = over_prompts(reading.definition)
    if name not in having:
        why = next((m.note for m in row.values() if m.note), f"not measured for {name}")
        return Measurement.missing(definition, why, at=reading.at)
    if not shared:
        return Measurement.missing(definition, "no prompt has a value for every system", at=reading.at)
    return mean_over_prompts([row[prompt] for prompt in shared], left_out=len(prompts) - len(shared), at=reading.at)


def _absent(reading: Reading, name: str, prompt: str, answers: _Answers) -> Measurement:
    if prompt in answers.doubles:
        why = f"{name} has {len(answers.doubles[prompt])} clips of this prompt"
    else:
        why = "not measured for this clip" if prompt in answers.subjects else f"{name} has no clip of this prompt"
    return Measurement.missing(reading.definition, why, at=reading.at)


def _unmeasured(reading: Reading, name: str) -> Measurement:
    at = dict(reading.at) | ({"system": name} if "system" in reading.definition.places else {})
    return Measurement.missing(reading.definition, f"not measured for {name}", at=at)


def _clips(systems: Iterable[FoundSystem], matrix: Mapping[str, _Answers]) -> dict[tuple[str, str], BoardClip]:
    return {
        (system.name, prompt): BoardClip(
            path=subject.path, run=matrix[system.name].runs[prompt], subject=subject.id, facts=subject.facts
        )
        for system in systems
        for prompt, subject in matrix[system.name].subjects.items()
    }
