"""Scores that other tools computed, as ordinary run directories: boards, comparisons and `rushes believe` take them.

A CSV has a row per clip (prompt_id or clip, and system where there are several) or per system; only declared columns
are read (`score_definitions`). Every system becomes a run of its own, OUT/system/scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.grouping import grouped
from rushes.core.machine.provenance import file_digest
from rushes.core.words.options import option
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run, subject_ids
from rushes.study.exchange.files import read_rows
from rushes.suite.imports.definitions import DeclaredColumn, distinct

INSTRUMENT = "scores"
_SYSTEM = ("system", "model", "models", "model_name")
_CLIP = ("prompt_id", "sample_id", "prompt", "clip", "video", "video_path", "video_url", "path", "file", "filename")
"""In this order, the first that tells a system's rows apart: prompts pair across systems, files do not."""
WHOLE = "whole"
"""Id of the subject that holds a system's own numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of an import."""

    runs: tuple[Run, ...]
    remarks: tuple[str, ...] = ()
    """What a reader must know: columns that were not read, a metric on two scales."""


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    system: str
    clip: str
    values: Mapping[str, float | None]
    """By metric name."""


def import_table(
    path: Path | str,
    out: Path | str,
    columns: Iterable[DeclaredColumn],
    *,
    system: str = "",
    overwrite: bool = False,
) -> Imported:
    """Bring the declared columns of a CSV into run directories below `out`, one per system.

    `system` names the one that the whole file is about, where it has no such column. Raises `InputError`, with the
    line, for a cell that is no number or outside the declared range, a clip that is there twice, and a column that is
    not there.
    """
    wanted = distinct(columns)
    rows, unread = _read(path, wanted, system)
    warnings = {}
    for name in (one.definition.name for one in wanted):
        by_system = grouped((row.system, value) for row in rows if (value := row.values[name]) is not None)
        if warning := scale_warning(name, by_system):
            warnings[name] = warning
    source = {"source": Path(path).name, "sha256": file_digest(path)}
    runs = [
        write_scores(
            run_folder(out, name, INSTRUMENT), _entries(own, wanted, warnings), name, source, overwrite=overwrite
        )
        for name, own in grouped((row.system, row) for row in rows).items()
    ]
    remarks = [f"{path}: not declared, so not read: {', '.join(unread)}"] if unread else []
    return Imported(runs=tuple(runs), remarks=(*remarks, *warnings.values()))


def run_folder(out: Path | str, system: str, name: str) -> Path:
    """OUT/system/name, the system's name made safe for a folder."""
    return Path(out) / subject_ids([system])[0] / name


def write_scores(
    folder: Path, entries: Sequence[Entry], system: str, source: Mapping[str, object], *, overwrite: bool
) -> Run:
    """One run of imported numbers; what it looked at is the system, by which boards and tables group runs."""
    settings = {**source, "system": system}
    with RunWriter(folder, instrument=INSTRUMENT, settings=settings, inputs=[system], overwrite=overwrite) as run:
        for entry in entries:
            if run.finished(entry.subject.id) is None:
                run.add(entry)
        run.finish([entry.subject.id for entry in entries])
    return read_run(folder)


def _entries(rows: Sequence[_Row], wanted: Sequence[DeclaredColumn], warnings: Mapping[str, str]) -> list[Entry]:
    ids = subject_ids([row.clip for row in rows]) if rows[0].clip else [WHOLE]
    entries = []
    for name, row in zip(ids, rows, strict=True):
        numbers = [_number(one, row.values[one.definition.name], warnings) for one in wanted]
        kind = "clip" if row.clip else "set"
        subject = Subject(id=name, kind=kind, path=row.clip or row.system, sha256=None)  # type: ignore[arg-type]
        entries.append(Entry(subject=subject, measurements=tuple(numbers)))
    return entries


def _number(one: DeclaredColumn, value: float | None, warnings: Mapping[str, str]) -> Measurement:
    if value is None:
        return Measurement.missing(one.definition, "the table has no value")
    note = warnings.get(one.definition.name, "")
    return Measurement(definition=one.definition, value=value, count=1, note=note)


def _read(path: Path | str, wanted: Sequence[DeclaredColumn], system: str) -> tuple[list[_Row], list[str]]:
    """The rows, and the columns of numbers that nobody declared."""
    if not wanted:
        raise InputError(
            f"{path}: declare what the columns mean: "
            f"{option('--define NAME:unit=…,better=higher|lower|neither', 'define=…')}, or "
            f"{option('--definitions FILE')}"
        )
    rows = read_rows(path, needed=[one.column for one in wanted], strip=True)
    if not rows:
        raise InputError(f"{path}: expected a row per clip or per system; the file has none")
    columns = list(rows[0][1])
    declared = {one.column for one in wanted}
    of_system = next(iter(_found(_SYSTEM, columns, declared)), "")
    of_clip = _telling(rows, of_system, _found(_CLIP, columns, declared))
    if not of_system and not system:
        raise InputError(
            f"{path}: no column says which system a row is about (system, model); name it with {option('--system')}"
        )
    if of_system and system:
        raise InputError(f"{path}: has a column {of_system}, so {option(f'--system {system}')} is not needed")
    found: list[_Row] = []
    seen: dict[tuple[str, str], int] = {}
    for line, cells in rows:
        name, clip = cells[of_system] if of_system else system, cells[of_clip] if of_clip else ""
        if not name or (of_clip and not clip):
            raise InputError(f"{path}, line {line}: expected a system and a clip; a cell is empty")
        if (name, clip) in seen:
            what = f"{clip} of {name}" if clip else name
            raise InputError(f"{path}, line {line}: {what} is on line {seen[name, clip]} already; keep one of the two")
        seen[name, clip] = line
        values = {one.definition.name: _value(path, line, name, one, cells[one.column]) for one in wanted}
        found.append(_Row(line, name, clip, values))
    others = [c for c in columns if c not in declared and c not in (of_system, of_clip)]
    return found, [c for c in others if all(_is_number(cells[c]) for _, cells in rows)]


def _found(words: Sequence[str], columns: Sequence[str], declared: set[str]) -> list[str]:
    by_word = {column.lower(): column for column in columns if column not in declared}
    return [by_word[word] for word in words if word in by_word]


def _telling(rows: Sequence[tuple[int, Mapping[str, str]]], of_system: str, columns: Sequence[str]) -> str:
    """The first column that has another value in every row of a system; else the first, which is then complained of."""
    for column in columns:
        keys = {(cells.get(of_system, ""), cells[column]) for _, cells in rows}
        if len(keys) == len(rows):
            return column
    return columns[0] if columns else ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _value(path: Path | str, line: int, system: str, one: DeclaredColumn, text: str) -> float | None:
    if not text:
        return None
    if not _is_number(text):
        raise InputError(f"{path}, line {line}: {one.column} is a number or empty; got {text!r}")
    value, low, high = float(text), one.definition.lowest, one.definition.highest
    if (low is not None and value < low) or (high is not None and value > high):
        ends = f"{'−∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"
        raise InputError(
            f"{path}, line {line}: {one.column} of {system} is {value:g}, outside the declared {ends}; is it on "
            "another scale (per cent, a sum over frames)? Bring it to one scale, or declare its range"
        )
    return value


FEW = 5
"""With fewer values a system's width cannot be seen; then only a share beside something ten times as large tells."""
TIMES = 10.0


def scale_groups(values: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """Systems by the scale their values seem to be on, lowest first; one group where nothing speaks against one.

    One column on several scales: a share here and per cent there, a mean here and a sum over frames there. Such a
    table looks whole and its means mean nothing. What gives it away is that the values of some systems lie
    together, far from those of the others: further than either group is wide, though all were asked the same
    prompts. It is a warning, not a proof: a number that each system has by its making (its frame rate) looks the
    same.

    Rule        neighbouring groups part where the gap between them is wider than each of the two (5 values a system or
                more), or where one lies within −1 to 1 and the other is 10 times further out

    >>> scale_groups({"a": [0.61, 0.83, 0.7], "b": [0.72, 0.9, 0.65], "c": [61.0, 83.0, 70.0]})
    [['a', 'b'], ['c']]
    """
    ends = sorted((min(found), max(found), name) for name, found in values.items() if len(found))
    groups: list[tuple[float, float, list[str]]] = []
    for low, high, name in ends:
        if groups and low <= groups[-1][1]:
            before = groups.pop()
            groups.append((before[0], max(before[1], high), [*before[2], name]))
        else:
            groups.append((low, high, [name]))
    found = groups[:1]
    for group in groups[1:]:
        if _apart(found[-1], group, values):
            found.append(group)
        else:
            last = found.pop()
            found.append((last[0], group[1], [*last[2], *group[2]]))
    return [sorted(names) for _, _, names in found]


def _apart(
    one: tuple[float, float, list[str]], other: tuple[float, float, list[str]], values: Mapping[str, Sequence[float]]
) -> bool:
    """Two groups of which the second lies higher."""
    share = -1.0 <= one[0] and one[1] <= 1.0 and other[0] >= TIMES * max(one[1], 0.1)
    many = min(len(values[name]) for name in (*one[2], *other[2])) >= FEW
    gap, width = other[0] - one[1], max(one[1] - one[0], other[1] - other[0])
    return share or (many and width > 0 and gap > width)


def scale_warning(name: str, values: Mapping[str, Sequence[float]]) -> str:
    """In words, on which scales a column seems to be; "" where it seems to be on one."""
    groups = scale_groups(values)
    if len(groups) < 2:
        return ""
    shown = [f"{_ends(group, values)} for {', '.join(group)}" for group in groups]
    return f"{name} seems to be on {len(groups)} scales: {'; '.join(shown)}"


def _ends(group: Sequence[str], values: Mapping[str, Sequence[float]]) -> str:
    found = [value for name in group for value in values[name]]
    return f"{min(found):.4g}" if min(found) == max(found) else f"{min(found):.4g} to {max(found):.4g}"
