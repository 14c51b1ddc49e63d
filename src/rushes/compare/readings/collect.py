"""From runs to a board's data: systems, prompts, and every reading that was measured alike for all of them.

A mean is over the prompts for which every system that has the reading has a value (`over:shared-prompts` in its
signature): a system that lacks its hard prompts would look better than it is otherwise. What is missing is a cell
without a value, and a remark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.compare.board.model import PEOPLE, BoardClips, BoardData, System
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
from rushes.compare.readings.samples import (
    Cell,
    average_samples,
    mean_over_column,
    mean_over_prompts,
    over_prompts,
    sample_remarks,
)
from rushes.compare.readings.systems import FoundSystem, Gathered, PromptIndex, gather
from rushes.compare.readings.value_rows import Prompts, Row, ValueRow, row_floats
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.core.reading import Reading, ReadingKey
from rushes.instruments.catalogue import readings_of
from rushes.stats.intervals import Floats, Whole
from rushes.storage.columns import ColumnValues
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
    samples = _samples(matrix)
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
        clips=BoardClips(answers, {name: row.runs for name, row in matrix.items()}),
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

    by_subject: dict[int, dict[str, str]] = field(default_factory=dict)
    """Key of a subject's cell: by the place of its run among the system's, and its id there."""
    samples: dict[str, list[tuple[Cell, Subject]]] = field(default_factory=dict)
    """By prompt: its clips, one unless they are numbered samples; {} where every prompt has one clip."""
    subjects: dict[str, Subject] = field(default_factory=dict)
    """By prompt: its clip, of several samples the first."""
    runs: Mapping[str, int] = field(default_factory=dict)
    """By prompt: the run that has the clip's series."""
    doubles: dict[str, list[str]] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)


def _samples(matrix: Mapping[str, _Answers]) -> dict[str, dict[str, list[tuple[Cell, Subject]]]]:
    """The samples of every system; {} where each has one clip to a prompt."""
    if not any(row.samples for row in matrix.values()):
        return {}
    return {
        name: row.samples or {prompt: [(Cell(prompt), clip)] for prompt, clip in row.subjects.items()}
        for name, row in matrix.items()
    }


def _answers(system: FoundSystem, index: PromptIndex) -> _Answers:
    return _plain_answers(system, index) or _all_answers(system, index)


def _plain_answers(system: FoundSystem, index: PromptIndex) -> _Answers | None:
    """Of a system with one run and one clip to a prompt, as most are; None of any other."""
    having = [place for place, run in enumerate(system.runs) if any(s.kind in index.kinds for s in run.subjects)]
    found = [index.find(name) for name in index.names(system)]
    prompts = [prompt.id for prompt in found if prompt is not None]
    if len(having) != 1 or len(prompts) < len(found) or len(set(prompts)) < len(found):
        return None
    subjects, roots = [subject for _, subject in index.prompted(system)], index.roots(system)
    clips = {prompt: clip for prompt, clip in zip(prompts, subjects, strict=True) if roots.has(clip)}
    made = _Answers(by_subject={having[0]: {one.id: at for one, at in zip(subjects, prompts, strict=True)}})
    made.subjects = {p.id: clips[p.id] for p in index.prompts if p.id in clips}
    made.runs = defaultdict(lambda: having[0])
    return made if len(made.by_subject[having[0]]) == len(subjects) else None


def _all_answers(system: FoundSystem, index: PromptIndex) -> _Answers:
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
        found.by_subject.setdefault(place, {})[subject.id] = cell.key
        if roots.has(subject) and (cell not in clips or (subject.kind == "clip" and clips[cell][0].kind != "clip")):
            clips[cell] = subject, place
    chosen: dict[str, int] = {}
    for cell, (subject, place) in clips.items():
        found.samples.setdefault(cell.prompt, []).append((cell, subject))
        if cell.prompt not in found.subjects:
            found.subjects[cell.prompt], chosen[cell.prompt] = subject, place
    found.runs = chosen
    found.subjects = {p.id: found.subjects[p.id] for p in index.prompts if p.id in found.subjects}
    if not any(cell.sample for cell in clips):
        found.samples = {}
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
        cells |= answers.by_subject.get(place, {})
        placed: dict[int, _Placed | None] = {}
        for reading in readings_of(_in_memory(run) if answers.samples else run):
            if not _add_column(columns, system.name, reading, cells, placed):
                columns.add(system.name, reading, cells)


_Placed: TypeAlias = tuple[Prompts, Whole]
"""Prompts in a column's order, and the cell that each has."""


def _add_column(
    columns: Columns, system: str, reading: Reading, cells: Mapping[str, str], placed: dict[int, _Placed | None]
) -> bool:
    """Add a reading that is stored as a column, as one; False where its cells have to be looked at one by one."""
    if not isinstance(reading.values, ColumnValues):
        return False
    column = reading.values.column
    if id(column.subjects) not in placed:
        placed[id(column.subjects)] = _placed(column.subjects, cells)
    where = placed[id(column.subjects)]
    if where is None:
        return False
    return columns.add_row(system, reading, column, *where)


def _placed(subjects: Sequence[str], cells: Mapping[str, str]) -> _Placed | None:
    """Where a run's subjects go; None where some are about no prompt, or two go to one."""
    keys = [cells.get(name) for name in subjects]
    prompts = [key for key in keys if key is not None]
    if not prompts or WHOLE in cells.values() or len(set(prompts)) < len(prompts):
        return None
    rows = np.flatnonzero([key is not None for key in keys])
    return Prompts(prompts), rows


def _in_memory(run: Run) -> Run:
    """The run with every number in memory: samples of a prompt are averaged clip by clip."""
    if run.shards is None:
        return run
    return replace(run, shards=None, measurements={one.subject.id: one.measurements for one in run.entries})


def _unlisted(
    systems: Iterable[FoundSystem], index: PromptIndex, matrix: Mapping[str, _Answers], *, known: Collection[ReadingKey]
) -> list[Column]:
    """Metrics of clips that are no column of a board, each in the form that compares most clips."""
    columns = Columns()
    for system in systems:
        answers = matrix[system.name]
        for place, run in enumerate(system.runs):
            cells = answers.by_subject.get(place, {})
            for reading in whole_readings(run) if run.instrument == _CLIP else ():
                if replace(reading, at=()).key not in known:
                    columns.add(system.name, reading, cells)
    kept = columns.settled()[0]
    average_samples(kept, _samples(matrix))
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
) -> tuple[dict[tuple[str, ReadingKey], Row], dict[tuple[str, ReadingKey], Measurement]]:
    values: dict[tuple[str, ReadingKey], Row] = {}
    whole: dict[tuple[str, ReadingKey], Measurement] = {}
    listed = Prompts([prompt.id for prompt in prompts])
    places: dict[int, Whole] = {}
    for column in columns:
        reading = column.reading
        if not reading.per_prompt:
            for name in names:
                whole[name, reading.key] = column.cells.get(name, {}).get(WHOLE) or _unmeasured(reading, name)
            continue
        having = column.systems
        floats = {name: row_floats(column.cells[name], listed.keys) for name in having}
        shared = np.ones(len(prompts), dtype=bool)
        for found in floats.values():
            shared &= ~np.isnan(found)
        for name in names:
            row, absent = column.cells.get(name, {}), partial(_absent, reading, name, answers=matrix[name])
            if isinstance(row, ValueRow):
                if id(row.prompts) not in places:
                    places[id(row.prompts)] = row.prompts.places(listed.keys)
                values[name, reading.key] = row.aligned(listed, places[id(row.prompts)], absent)
            else:
                values[name, reading.key] = {key: row.get(key) or absent(key) for key in listed.keys if row}
            whole[name, reading.key] = _mean(reading, name, row, floats.get(name), shared, listed)
    return values, whole


def _mean(
    reading: Reading, name: str, row: Row, floats: Floats | None, shared: NDArray[np.bool_], prompts: Prompts
) -> Measurement:
    """The mean of a system over the prompts that are shared; `floats` are its values, None where it has none."""
    definition = over_prompts(reading.definition)
    if floats is None:
        why = next((m.note for m in row.values() if m.note), f"not measured for {name}")
        return Measurement.missing(definition, why, at=reading.at)
    left_out = int(np.count_nonzero(~shared))
    if left_out == len(prompts.keys):
        return Measurement.missing(definition, "no prompt has a value for every system", at=reading.at)
    if isinstance(row, ValueRow):
        kept = floats if not left_out else floats[shared]
        return mean_over_column(reading.definition, kept, flags=row.is_flag, left_out=left_out, at=reading.at)
    found = [row[prompts.keys[place]] for place in np.flatnonzero(shared).tolist()]
    return mean_over_prompts(found, left_out=left_out, at=reading.at)


def _absent(reading: Reading, name: str, prompt: str, *, answers: _Answers) -> Measurement:
    if prompt in answers.doubles:
        why = f"{name} has {len(answers.doubles[prompt])} clips of this prompt"
    else:
        why = "not measured for this clip" if prompt in answers.subjects else f"{name} has no clip of this prompt"
    return Measurement.missing(reading.definition, why, at=reading.at)


def _unmeasured(reading: Reading, name: str) -> Measurement:
    at = dict(reading.at) | ({"system": name} if "system" in reading.definition.places else {})
    return Measurement.missing(reading.definition, f"not measured for {name}", at=at)
