"""What stands in a paper's table and below it.

Under one head: numbers of one signature, held against one set of references, as text. Below: on how many clips a column
rests, what is missing, and what does not compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rushes.compare.paper.columns import Column
from rushes.compare.paper.systems import System, SystemNumber
from rushes.core.definition import describe_difference
from rushes.core.selection import spelt, told_apart
from rushes.core.table import ARROWS, Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """One column: the numbers of one signature, held against one set of references."""

    column: Column
    readings: tuple[SystemNumber | None, ...]
    """One per system; None where it has no number here."""
    digits: int
    mark: int | None = None
    """Number of its footnote; None where no system has a number."""
    best: int | None = None
    """The system that bold is for."""
    second: int | None = None
    """The system that is underlined."""
    unmarked: str = ""
    """Why the metric ranks no system; "" where it may."""
    head: str = ""
    """Its title where the numbers do not give one."""

    @property
    def title(self) -> str:
        """Its head: the column's, or that of a protocol's own reading of the metric: "PSNR (DisCo)"."""
        found = self.found[0] if self.found else None
        if found is None or self.head:
            return self.head or self.column.title
        head = found.label if found.label and found.origin != self.column.asks else self.column.title
        return spelt(head, told_apart([found.measurement])[0])

    @property
    def signature(self) -> str:
        return self.found[0].measurement.signature if self.found else ""

    @property
    def found(self) -> tuple[SystemNumber, ...]:
        return tuple(reading for reading in self.readings if reading is not None)


def groups_of(
    column: Column, systems: Sequence[System], *, columns: Sequence[Column]
) -> list[tuple[SystemNumber | None, ...]]:
    """The column once for each signature and set of references; once, without numbers, where nothing was measured.

    A number whose metric has a column of its own among `columns` stands there alone.
    """
    others = {other.asks for other in columns} - {column.asks}
    groups: list[list[SystemNumber | None]] = []
    for place, system in enumerate(systems):
        for reading in system.readings:
            if not reading.has_value or not reading.under(column) or reading.origin in others:
                continue
            group = next((group for group in groups if group[place] is None and _belongs(reading, group)), None)
            if group is None:
                group = [None] * len(systems)
                groups.append(group)
            group[place] = reading
    return [tuple(group) for group in groups] or [(None,) * len(systems)]


def _belongs(reading: SystemNumber, group: Sequence[SystemNumber | None]) -> bool:
    members = [other for other in group if other is not None]
    return all(
        reading.measurement.signature == other.measurement.signature and not reading.difference(other)
        for other in members
    )


DASH = "–"
_SMALL = 0.01
"""Below this a value keeps two digits at the least."""


def number_text(value: float, digits: int) -> str:
    """A value with this many decimals; a small one that would lose too much by it is written with a power of ten.

    >>> number_text(23.304, 2), number_text(0.000312, 4), number_text(-0.25, 2), number_text(0.0, 4)
    ('23.30', '3.12e-04', '-0.25', '0.0000')
    """
    least = max(_vanishing(digits), min(10.0 ** (1 - digits), _SMALL))
    return f"{value:.2e}" if 0 < abs(value) < least else f"{value:.{digits}f}"


def _vanishing(digits: int) -> float:
    """Below this nothing is left to see."""
    return 0.5 * 10.0**-digits


def interval_text(reading: SystemNumber, digits: int) -> tuple[str, ...]:
    """One text, half the width, where the value is the middle as far as the digits show; else both ends.

    () where the number has no interval.
    """
    m = reading.measurement
    if m.interval is None or m.value is None:
        return ()
    value, low, high = float(m.value), m.interval.low, m.interval.high
    step = 10.0 ** -(digits if "e" not in number_text(value, digits) else 8)
    if abs((high - value) - (value - low)) <= step:
        return (_width(value, (high - low) / 2, digits),)
    return _width(value, low, digits), _width(value, high, digits)


def _width(value: float, width: float, digits: int) -> str:
    """Written as the value beside it is, as long as anything is left to see of it."""
    vanishes = 0 < abs(width) < _vanishing(digits)
    return f"{width:.2e}" if vanishes or "e" in number_text(value, digits) else f"{width:.{digits}f}"


def headed(column: TableColumn) -> str:
    """Its title and which way is better: "PSNR ↑"."""
    return f"{column.title} {ARROWS[column.column.better]}".rstrip()


def cell(column: TableColumn, place: int, interval: bool) -> Cell:
    """A system's number with the digits asked for, its interval beside it, the best bold."""
    reading = column.readings[place]
    if reading is None or reading.measurement.value is None:
        return Cell(DASH)
    ends = interval_text(reading, column.digits) if interval else ()
    return Cell(
        number_text(float(reading.measurement.value), column.digits),
        reading.measurement,
        beside=f"[{ends[0]}, {ends[1]}]" if len(ends) == 2 else f"± {ends[0]}" if ends else "",
        bold=column.best == place,
        underlined=column.second == place,
    )


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
        return f"{ours.name} and {theirs.name} are different metrics; these values are not comparable"
    if ours.signature != theirs.signature:
        return describe_difference(ours.signature, theirs.signature)
    a, b = (next((systems[n].name, r) for n, r in enumerate(one.readings) if r is not None) for one in (first, second))
    if why := a[1].difference(b[1]):
        return f"A is {a[0]}, B is {b[0]}: {why}; these values are not comparable"
    return f"{b[0]} was measured twice, under one signature"


def _missing(systems: Sequence[System], columns: Sequence[TableColumn]) -> Iterator[tuple[str, str, str]]:
    """System, column and why there is no number."""
    for place, system in enumerate(systems):
        if system.is_reference:
            continue
        for column in {column.column.name: column.column for column in columns}.values():
            if not any(c.readings[place] is not None for c in columns if c.column is column):
                yield system.name, column.title, _why_missing(system, column)


def _why_missing(system: System, column: Column) -> str:
    notes = [_without_value(r) for r in system.readings if not r.has_value and r.under(column)]
    return next(iter(notes), system.reasons.get(column.name, _NOT_MEASURED))


def _without_value(number: SystemNumber) -> str:
    """Why a mean has no value: why its first clip has none."""
    if not number.left_out:
        return number.measurement.note
    return f"no clip has a value: {next(iter(number.left_out.values()))}"


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
