"""What stands below a paper's table: on how many clips a column rests, what is missing, and what does not compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rushes.core.definition import describe_difference
from rushes.suite.paper_columns import Column
from rushes.suite.paper_grid import TableColumn
from rushes.suite.paper_systems import System

_SHOWN = 3
"""Clips that a note names."""
_NOT_MEASURED = "not measured"
_COUNTED = "values missing"
"""How a mean counts what it leaves out; here the clips are named."""


def rests_on(column: TableColumn, systems: Sequence[str], *, intervals: bool) -> str:
    """On how many clips the numbers rest, and how their intervals were drawn where these are shown."""
    by_system = {systems[n]: r.rests_on for n, r in enumerate(column.readings) if r is not None}
    same = len(set(by_system.values())) == 1
    clips = next(iter(by_system.values())) if same else ", ".join(f"{n}: {text}" for n, text in by_system.items())
    drawn = [r.measurement.interval for r in column.found if r.measurement.interval is not None]
    if not intervals or not drawn:
        return clips
    methods = dict.fromkeys(f"{100 * interval.level:g} % interval: {interval.method}" for interval in drawn)
    return "; ".join([clips, *methods])


def notes_on(systems: Sequence[System], columns: Sequence[TableColumn]) -> list[str]:
    """What a reader must know, each said once, with the columns and the systems it is about."""
    differences: dict[str, list[str]] = {}
    for head, text in _differences(systems, columns):
        differences.setdefault(text, []).append(head)
    heads: dict[tuple[str, str], list[str]] = {}
    for system, head, text in (*_missing(systems, columns), *_remarks(systems, columns)):
        heads.setdefault((system, text), []).append(head)
    names: dict[tuple[str, str], list[str]] = {}
    for (system, text), about in heads.items():
        names.setdefault((_listed(about), text), []).append(system)
    return [
        *(f"{_listed(about)}: {text}" for text, about in differences.items()),
        *(f"{about}: {_listed(who)}: {text}" for (about, text), who in names.items()),
    ]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def _differences(systems: Sequence[System], columns: Sequence[TableColumn]) -> Iterator[tuple[str, str]]:
    """In what the readings of one column differ, and where one column's means rest on different clips."""
    for column in columns:
        twins = [other for other in columns if other.column is column.column and other.mark is not None]
        first = twins[0] if twins else column
        if column is not first:
            head = "" if column.title == first.title else f"{column.title} "
            yield f"{first.title} ({first.mark}) and {head}({column.mark})", _difference(first, column, systems)
        if len({reading.clips for reading in column.found}) > 1:
            names = [systems[n].name for n, reading in enumerate(column.readings) if reading is not None]
            shared = len(frozenset.intersection(*(reading.clips for reading in column.found)))
            yield column.title, f"{' and '.join(names)} are means over different clips ({shared} are in all)"


def _difference(first: TableColumn, second: TableColumn, systems: Sequence[System]) -> str:
    ours, theirs = first.found[0].measurement, second.found[0].measurement
    if ours.name != theirs.name:
        return f"{ours.name} and {theirs.name} are different metrics; these numbers do not compare"
    if ours.signature != theirs.signature:
        return describe_difference(ours.signature, theirs.signature)
    a, b = (next((systems[n].name, r) for n, r in enumerate(one.readings) if r is not None) for one in (first, second))
    if why := a[1].difference(b[1]):
        return f"A is {a[0]}, B is {b[0]}: {why}; these numbers do not compare"
    return f"{b[0]} was measured twice, under one signature"


def _missing(systems: Sequence[System], columns: Sequence[TableColumn]) -> Iterator[tuple[str, str, str]]:
    """System, column and why there is no number."""
    for place, system in enumerate(systems):
        for column in {column.column.name: column.column for column in columns}.values():
            if not any(c.readings[place] is not None for c in columns if c.column is column):
                yield system.name, column.title, _why_missing(system, column)


def _why_missing(system: System, column: Column) -> str:
    notes = [r.measurement.note for r in system.readings if not r.has_value and r.under(column)]
    return next(iter(notes), system.reasons.get(column.name, _NOT_MEASURED))


def _remarks(systems: Sequence[System], columns: Sequence[TableColumn]) -> Iterator[tuple[str, str, str]]:
    """System, column and clips that are in no number, and what the measurements themselves say."""
    for column in columns:
        for system, reading in zip(systems, column.readings, strict=True):
            if reading is None:
                continue
            if reading.left_out:
                yield system.name, column.title, _left_out(reading.left_out)
            parts = [part for part in reading.measurement.note.split("; ") if not part.endswith(_COUNTED)]
            if note := "; ".join(filter(None, parts)):
                yield system.name, column.title, note


def _left_out(left_out: Mapping[str, str]) -> str:
    """
    >>> _left_out({"a": "a.mp4: no face", "b": "no sound"})
    '2 clips left out: a.mp4: no face, b: no sound'
    """
    shown = [
        why if re.match(rf"{re.escape(name)}\b", why) else f"{name}: {why}"
        for name, why in list(left_out.items())[:_SHOWN]
    ]
    more = f" and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else ""
    return f"{len(left_out)} clip{'s' * (len(left_out) > 1)} left out: {', '.join(shown)}{more}"
