"""What metrics say about clips, by system and prompt: out of runs, or out of a board's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

import numpy as np

from rushes.compare.agreement.clip_values import (
    ClipColumn,
    ClipColumns,
    Clips,
    PerClip,
    by_system,
    systems_of,
    valued_clips,
)
from rushes.compare.agreement.human_scores import ClipKey
from rushes.compare.board.model import BoardData
from rushes.compare.readings.sampled_runs import Declared, declared_prompts, sample_means
from rushes.core import Definition
from rushes.core.errors import InputError
from rushes.core.measurement import At
from rushes.core.reading import Reading, Same
from rushes.core.selection import reading_names
from rushes.storage.columns import ColumnValues, reading_columns, stored_shards, with_subjects
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run, Subject, read_run
from rushes.storage.runs.disk import require_info
from rushes.storage.runs.readings import every_reading
from rushes.suite.imports.scores import scale_warning
from rushes.suite.names import set_name
from rushes.suite.prompts import Prompt

_JOINT = "__"
"""Between system and prompt in the id of a clip of a run over several systems' folders."""

_CLIPS = ("clip", "pair", "pose")
Called: TypeAlias = tuple[ClipKey, str, str]
"""A clip, its path and its id in its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScores:
    """One reading over clips, or, where it is about whole sets, over systems."""

    definition: Definition
    at: At
    per_clip: PerClip = field(default_factory=dict)
    per_system: dict[str, float] = field(default_factory=dict)
    """Of a reading without clips (FVD)."""

    @property
    def label(self) -> str:
        """What the reading is called where it stands alone."""
        return reading_names([self])[0]

    @property
    def same(self) -> Same:
        return self.definition.signature, self.at

    @property
    def by_system(self) -> dict[str, list[float]]:
        """The values of each system's clips."""
        return by_system(self.per_clip)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of its clips, in order."""
        return systems_of(self.per_clip)

    @property
    def one_per_system(self) -> bool:
        """Whether every clip of a system has the same value: then there are as many observations as systems."""
        values, many = self.by_system, len(self.per_clip)
        clips = many > len(values) > 1
        return not many or (clips and all(len(set(found)) == 1 for found in values.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredClips:
    """Every reading of several systems, and the names by which a clip may be called."""

    metrics: tuple[MetricScores, ...]
    subjects: Sequence[Called] = ()
    """What a clip may be called by."""
    remarks: tuple[str, ...] = ()
    called: Mapping[Same, str] = field(default_factory=dict)
    """What metrics are called that were asked for by name."""
    prompts: tuple[Prompt, ...] = ()
    """Declared ones, where numbered samples of them were averaged."""

    @property
    def clips(self) -> frozenset[ClipKey]:
        return valued_clips(metric.per_clip for metric in self.metrics)

    @property
    def systems(self) -> tuple[str, ...]:
        found = [system for m in self.metrics for system in m.systems]
        return tuple(dict.fromkeys([*found, *(system for m in self.metrics for system in m.per_system)]))

    def named(self, wanted: Set[str]) -> dict[str, set[ClipKey]]:
        """The clips that each of these names may mean: an id, a path, a file's name or its stem."""
        found: dict[str, set[ClipKey]] = {}
        for key, path, subject in self.subjects if wanted else ():
            whole, joined = PurePosixPath(path), (f"{key[0]}/{key[1]}", f"{key[0]}{_JOINT}{key[1]}")
            plain = subject.removeprefix(f"{key[0]}_")  # as a study calls samples of clips with the system in them
            for name in ({path, subject, plain, whole.name, whole.stem, *joined} - {""}) & wanted:
                found.setdefault(name, set()).add(key)
        return found


def scores_of_board(data: BoardData) -> MeasuredClips:
    """The readings of a board; its refusals are its own to show."""
    metrics = []
    for reading in data.readings:
        per_clip = {
            (system, prompt): float(m.value)
            for system in data.names
            for prompt, m in data.values.get((system, reading.key), {}).items()
            if m.value is not None
        }
        whole = {name: data.whole.get((name, reading.key)) for name in data.names}
        per_system = (
            {} if reading.per_prompt else {s: float(m.value) for s, m in whole.items() if m and m.value is not None}
        )
        metrics.append(
            MetricScores(definition=reading.definition, at=reading.at, per_clip=per_clip, per_system=per_system)
        )
    called = tuple((key, clip.path, clip.subject) for key, clip in data.clips.items())
    return MeasuredClips(metrics=tuple(metrics), subjects=called)


def scores_of_runs(
    places: Iterable[Run | Path | str], *, systems: Sequence[str] = (), prompts: Declared = None
) -> MeasuredClips:
    """The readings of runs. A place is a run, "system=RUN", or a folder that holds a folder of runs per system.

    `systems` are names to look for: in a run over several systems' folders a clip is called `system__prompt`. A run's
    own name is that of the folder whose clips it measured. A reading that two runs give of one clip with different
    values is refused with `InputError`, and so is a name under two signatures with both of them (see `remarks`).
    Numbered samples of a declared prompt are averaged within it (`sample_means`).
    """
    found: dict[Same, MetricScores] = {}
    called: list[Called] = []
    remarks: list[str] = []
    opened = list(_opened(places, systems))
    folded, averaged = sample_means([run for _, run in opened], prompts)
    remarks += averaged
    for (system, _), run in zip(opened, folded, strict=True):
        if run.status != "complete":
            remarks.append(f"{run.place}: the run is {run.status}; only what is finished was read")
        clips = [subject for subject in run.subjects if subject.kind in _CLIPS]
        # A set beside its clips is a mean that repeats what they say.
        keys = {subject.id: _key(subject, system, systems) for subject in clips or run.subjects}
        called += [(keys[subject.id], subject.path, subject.id) for subject in clips]
        _add(found, run, keys)
    if not found:
        raise InputError("expected runs with values per clip; these have none")
    metrics = tuple(found.values())
    remarks += [*_mixed(metrics), *_scales(metrics)]
    used = declared_prompts(folded, prompts) if averaged else ()
    return MeasuredClips(metrics=metrics, subjects=called, remarks=tuple(remarks), prompts=used)


def _opened(places: Iterable[Run | Path | str], systems: Sequence[str]) -> Iterator[tuple[str, Run]]:
    any_run = False
    for place in places:
        any_run = True
        if isinstance(place, Run):
            yield _system_of(place, systems), with_subjects(place)
            continue
        name, sign, rest = str(place).partition("=")
        if sign and name and not Path(place).exists():
            yield name, with_subjects(read_run(rest))
        elif not is_remote(place) and Path(place).is_dir() and not Path(place, "run.json").exists():
            yield from _in_folder(Path(place))
        else:
            run = with_subjects(read_run(place))
            yield _system_of(run, systems), run
    if not any_run:
        raise InputError("expected at least one run directory; got none")


def _in_folder(folder: Path) -> Iterator[tuple[str, Run]]:
    """Runs in the folders of systems: FOLDER/system or FOLDER/system/instrument."""
    for below in (*folder.glob("*/"), *folder.glob("*/*/")):
        require_info(below)
    files = sorted([*folder.glob("*/run.json"), *folder.glob("*/*/run.json")])
    if not files:
        raise InputError(f"{folder}: expected a run, or a folder with a folder of runs per system; found neither")
    for file in files:
        yield file.relative_to(folder).parts[0], with_subjects(read_run(file.parent))


def _system_of(run: Run, systems: Sequence[str]) -> str:
    """What the run's system is called: the folder of its clips, the run's own folder; one of `systems` where it can."""
    asked = run.info.get("asked") or run.info.get("inputs") or ()
    folders = [set_name(str(asked[0]))] if isinstance(asked, (list, tuple)) and len(asked) == 1 else []
    stated = run.info.get("settings", {}).get("system") if isinstance(run.info.get("settings"), Mapping) else None
    choices = [*([str(stated)] if stated else []), *folders, run.path.resolve().name, run.path.resolve().parent.name]
    return next((name for name in choices if name in systems), choices[0])


def _key(subject: Subject, system: str, systems: Sequence[str]) -> ClipKey:
    """System and prompt of a clip; ("system", "") for what is about the whole set."""
    if subject.kind not in _CLIPS:
        return system, ""
    head, sign, rest = subject.id.partition(_JOINT)
    return (head, rest) if sign and head in systems and system not in systems else (system, subject.id)


def _add(found: dict[Same, MetricScores], run: Run, keys: Mapping[str, ClipKey]) -> None:
    """Add a run's values, as columns where it is stored in columns and all that it measured are clips."""
    held = [subject.id for subject in run.subjects]
    clips = Clips([keys[name] for name in held if name in keys])
    if stored_shards(run) is None or not clips.keys or not all(prompt for _, prompt in clips.keys):
        for reading in every_reading(run, held):
            _take(found, run, reading, keys)
        return
    rows = np.array([name in keys for name in held], dtype=bool)
    for column in reading_columns(run, held):
        if not _take_column(found, ClipColumn(clips, column, None if rows.all() else rows)):
            reading = Reading(definition=column.definition, at=column.at, values=ColumnValues(column))
            _take(found, run, reading, keys)


def _take_column(found: dict[Same, MetricScores], new: ClipColumn) -> bool:
    """Add a column as it is; False where an earlier run has numbers of the same clips, or is held in memory."""
    if not new.has_value:
        return True
    column = new.column
    scores = found.get(column.same) or MetricScores(definition=column.definition, at=column.at)
    before = scores.per_clip
    parts = before.parts if isinstance(before, ClipColumns) else ()
    if (before and not parts) or any(new.clips.shares(part.clips) for part in parts):
        return False
    found[column.same] = replace(scores, per_clip=ClipColumns([*parts, new]))
    return True


def _take(found: dict[Same, MetricScores], run: Run, reading: Reading, keys: Mapping[str, ClipKey]) -> None:
    """Add a run's values to what the runs before it gave of the same reading."""
    scores = found.get(reading.same) or MetricScores(definition=reading.definition, at=reading.at)
    per_clip = scores.per_clip if isinstance(scores.per_clip, dict) else dict(scores.per_clip)
    per_system = scores.per_system
    for subject, m in reading.values.items():
        if m.value is None or subject not in keys:
            continue
        key, value = keys[subject], float(m.value)
        system, prompt = key
        before = per_clip.setdefault(key, value) if prompt else per_system.setdefault(system, value)
        if before != value:
            raise InputError(
                f"{run.place}: {m.signature} of {subject} is {value:g} here but differs in an earlier run; "
                "name the system of each run: NAME=RUN"
            )
    if per_clip or per_system:
        found[reading.same] = replace(scores, per_clip=per_clip)


def _scales(metrics: Sequence[MetricScores]) -> list[str]:
    """Imported columns that seem to be on several scales."""
    imported = [metric for metric in metrics if metric.definition.param("origin") == "imported"]
    found = (scale_warning(metric.definition.name, metric.by_system) for metric in imported)
    return [warning for warning in found if warning]


def _mixed(metrics: Sequence[MetricScores]) -> list[str]:
    """Readings of one name that do not cover the same systems: two definitions where one was meant, most likely."""
    remarks = []
    for name in dict.fromkeys(m.definition.name for m in metrics):
        readings = {m.definition.signature: set(m.systems) for m in metrics if m.definition.name == name}
        covered = [systems for systems in readings.values() if systems]
        if len(covered) > 1 and not set.intersection(*covered):
            remarks.append(f"{name} was measured differently for different systems: {' and '.join(readings)}")
    return remarks
