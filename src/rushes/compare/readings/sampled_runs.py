"""Runs whose clips are numbered samples of declared prompts, as runs of one subject per prompt: its samples' mean.

What a board does to its columns (`samples`), done to whole runs, so that compare, gate and believe count a prompt once
too. Prompts are declared by a suite, whose folder the runs lie in, or by a file. Without them nothing changes: nobody
can know whether scene-1 and scene-2 are two scenes or two samples of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from rushes.compare.readings.samples import Cell, mean_of_samples, sample_mean, sample_remarks
from rushes.compare.readings.systems import FoundSystem, PromptIndex, clip_roots
from rushes.core import Measurement
from rushes.core.reading import Same
from rushes.storage.columns import stored_shards
from rushes.storage.runs import Run, Subject
from rushes.suite.folder import is_suite_folder, read_suite_folder
from rushes.suite.prompts import Prompt, read_prompts

Declared: TypeAlias = Path | str | Sequence[Prompt] | None
"""A file of prompts, the prompts, or None: those of the suite that the runs are in."""
_Folded: TypeAlias = dict[str, list[tuple[Cell, Subject]]]
_WITHIN = "within"
"""The parameter of a mean over samples."""


def sample_means(runs: Sequence[Run], prompts: Declared = None) -> tuple[list[Run], tuple[str, ...]]:
    """The runs with one subject per prompt, and what to say about it; as they are where no clip is a numbered sample.

    How many samples prompts have, over all the runs together, is in the signatures: `samples:4|within:sample-mean`.
    """
    declared = declared_prompts(runs, prompts)
    if not declared or any(_is_folded(run) for run in runs):
        return list(runs), ()
    folded = [_cells(run, declared) for run in runs]
    if not any(cell.sample for one in folded for found in one.values() for cell, _ in found):
        return list(runs), ()
    counts = [len(found) for one in folded for found in one.values()]
    binary = _binary(runs, folded)
    made = [_run(run, one, counts, binary) for run, one in zip(runs, folded, strict=True)]
    places = {f"{run.place}": one for run, one in zip(runs, folded, strict=True)}
    return made, tuple(sample_remarks(places))


def declared_prompts(runs: Iterable[Run], prompts: Declared = None) -> tuple[Prompt, ...]:
    """Those given; else those of the suite's folder that every run lies in; () where there is none."""
    if isinstance(prompts, (str, Path)):
        return read_prompts(prompts)
    if prompts is not None:
        return tuple(prompts)
    found = {_suite_of(run) for run in runs}
    return next(iter(found)) if len(found) == 1 else ()


def _suite_of(run: Run) -> tuple[Prompt, ...]:
    """The prompts of the suite in whose folder a run lies: SUITE/system/instrument, or one folder deeper."""
    folder = next((place for place in list(run.path.resolve().parents)[:3] if is_suite_folder(place)), None)
    return () if folder is None else read_suite_folder(folder).suite.prompts


def _is_folded(run: Run) -> bool:
    shards = stored_shards(run)
    if shards is not None and not any(one.param(_WITHIN) for one in shards.definitions.values()):
        return False  # as below, and no clip is read
    return any(m.definition.param(_WITHIN) for numbers in run.measurements.values() for m in numbers[:1])


def _cells(run: Run, prompts: Sequence[Prompt]) -> _Folded:
    """By prompt its clips, numbered samples or one; a prompt with both, or with two clips of one number, stays out."""
    system = FoundSystem(name="", runs=[run], roots=clip_roots(run))
    index = PromptIndex(prompts, [system])
    found: _Folded = {}
    for _, subject in index.prompted(system):
        if (cell := index.cell(index.roots(system).name(subject))) is not None:
            found.setdefault(cell.prompt, []).append((cell, subject))
    return {prompt: row for prompt, row in found.items() if len({cell for cell, _ in row}) == len(row) and _whole(row)}


def _whole(row: Sequence[tuple[Cell, Subject]]) -> bool:
    return len(row) == 1 or all(cell.sample for cell, _ in row)


def _binary(runs: Sequence[Run], folded: Sequence[_Folded]) -> dict[Same, bool]:
    """Which readings are true or false wherever they have a value."""
    found: dict[Same, bool] = {}
    for run, one in zip(runs, folded, strict=True):
        for _, subject in (pair for row in one.values() for pair in row):
            for m in run.measurements.get(subject.id, ()):
                is_flag = m.value is None or isinstance(m.value, bool)
                found[m.signature, m.at] = found.get((m.signature, m.at), True) and is_flag
    return found


def _run(run: Run, folded: _Folded, counts: Sequence[int], binary: Mapping[Same, bool]) -> Run:
    mine = {subject.id: prompt for prompt, row in folded.items() for _, subject in row}
    subjects, numbers = {}, {}
    for subject in run.subjects:
        prompt = mine.get(subject.id)
        if prompt is None:
            subjects[subject.id], numbers[subject.id] = subject, run.measurements.get(subject.id, ())
        elif prompt not in subjects:
            clips = [clip for _, clip in folded[prompt]]
            badges = {clip.badge for clip in clips}
            badge = badges.pop() if len(badges) == 1 else None  # samples that differ have no signal together
            subjects[prompt] = replace(subject, id=prompt, badge=badge)
            numbers[prompt] = tuple(_means(run, clips, counts, binary))
    return replace(run, subjects=tuple(subjects.values()), measurements=numbers)


def _means(
    run: Run, clips: Sequence[Subject], counts: Sequence[int], binary: Mapping[Same, bool]
) -> Iterable[Measurement]:
    by_clip = [{(m.signature, m.at): m for m in run.measurements.get(clip.id, ())} for clip in clips]
    for same, first in {same: m for found in reversed(by_clip) for same, m in found.items()}.items():
        definition = mean_of_samples(first.definition, counts, binary=binary[same])
        yield sample_mean(definition, [(found.get(same), clip) for found, clip in zip(by_clip, clips, strict=True)])
