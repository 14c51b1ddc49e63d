"""Numbers of several systems as columns: one signature and one place each, or refused with what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rushes.compare.comparison import Refused
from rushes.compare.readings.value_rows import Prompts, Row, ValueRow, all_floats, is_valued
from rushes.core import Definition, Measurement
from rushes.core.definition import describe_difference, parse_signature
from rushes.core.grouping import grouped
from rushes.core.measurement import At
from rushes.core.reading import Reading
from rushes.core.selection import spelt, told_apart
from rushes.stats.intervals import Whole
from rushes.stats.means import is_unset
from rushes.storage.columns import ReadingColumn

WHOLE = ""
"""Key of a number that is about a system and no prompt."""
SAMPLE_SIGN = "\0"
"""Between a prompt's id and the number of its sample, in the key of a cell; no name of a file has it."""
_Topic: TypeAlias = tuple[str, str, At, bool]
"""Instrument, metric, what it is about, and whether it is per prompt: columns of one topic may be rivals."""


@dataclass(slots=True, kw_only=True)
class Column:
    """Everything measured under one signature about one thing."""

    reading: Reading
    """What it is; its values are the cells."""
    cells: dict[str, Row] = field(default_factory=dict)
    """By system and prompt."""
    disputed: set[tuple[str, str]] = field(default_factory=set)
    """Cells for which two runs gave two values."""
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    """By prompt and system: digests of what a number was held against."""

    @property
    def systems(self) -> frozenset[str]:
        """Those with a value."""
        return frozenset(name for name, row in self.cells.items() if is_valued(row))

    @property
    def numbers(self) -> Iterator[Measurement]:
        return (m for row in self.cells.values() for m in row.values())

    @property
    def tells(self) -> bool:
        """Whether its values are not all the same."""
        found = [row for row in map(all_floats, self.cells.values()) if len(row)]
        return bool(found) and min(row.min() for row in found) < max(row.max() for row in found)

    def row(self, system: str) -> dict[str, Measurement]:
        """The cells of a system, to be changed."""
        row = self.cells.get(system)
        if not isinstance(row, dict):
            row = self.cells[system] = dict(row or {})
        return row

    def add(self, system: str, prompt: str, new: Measurement, reference: str | None) -> None:
        """Put a number into its cell. The same number from two runs counts once, two different ones are none."""
        row = self.row(system)
        before = row.get(prompt)
        if (system, prompt) in self.disputed:
            return
        if before is None or before.value is None:
            row[prompt] = new
        elif new.value is not None and new.stored_value != before.stored_value:
            note = f"two runs of {system} give two values: {before.stored_value} and {new.stored_value}"
            row[prompt] = Measurement.missing(self.reading.definition, note, at=new.at)
            self.disputed.add((system, prompt))
        if reference is not None:
            self.references.setdefault(prompt, {})[system] = reference


class Columns:
    """Columns in the order in which their first numbers came."""

    def __init__(self) -> None:
        self._found: dict[tuple[_Topic, str], Column] = {}

    def add(self, system: str, reading: Reading, cells: Mapping[str, str]) -> None:
        """The values of a run's reading; `cells` has where they go, by subject: a prompt's cell, or WHOLE."""
        for subject, m in reading.values.items():
            if (prompt := cells.get(subject)) is not None:
                column = self._column(reading, per_prompt=prompt != WHOLE)
                column.add(system, prompt, m, reading.references.get(subject))

    def add_row(self, system: str, reading: Reading, column: ReadingColumn, prompts: Prompts, rows: Whole) -> bool:
        """The same for a reading that is stored as a column; False where the system has numbers of it already."""
        found = self._column(reading, per_prompt=True)
        if system in found.cells:
            return False
        found.cells[system] = ValueRow(column, prompts, rows)
        return True

    def _column(self, reading: Reading, *, per_prompt: bool) -> Column:
        about = tuple(place for place in reading.at if place[0] != "system")
        key = (reading.instrument, reading.name, about, per_prompt), reading.definition.signature
        if key not in self._found:
            head = replace(reading, at=about, values={}, references={}, per_prompt=per_prompt)
            self._found[key] = Column(reading=head)
        return self._found[key]

    def settled(self) -> tuple[list[Column], list[Refused]]:
        """The columns of a board, and what is refused."""
        topics = grouped((topic, column) for (topic, _), column in self._found.items())
        kept: list[Column] = []
        refused: list[Refused] = []
        for columns in topics.values():
            valued, without = _joined(columns)
            refused += without
            alike, rivals = _without_rivals(valued)
            refused += rivals
            for column in alike:
                if why := _other_references(column):
                    refused.append(Refused(name=column.reading.label, why=why))
                elif not column.reading.minor or column.tells:
                    kept.append(column)
        return kept, refused


def _joined(columns: Sequence[Column]) -> tuple[list[Column], list[Refused]]:
    """Columns with a value. One without goes into that whose parameters it never came to set, or is refused."""
    valued = [column for column in columns if column.systems]
    without = []
    for column in (column for column in columns if not column.systems):
        home = next((other for other in valued if is_unset(column.reading.definition, other.reading.definition)), None)
        if home is None and not column.reading.minor and not valued:
            note = next((m.note for m in column.numbers if m.note), "no value")
            without.append(Refused(name=column.reading.label, why=f"no clip has a value: {note}"))
        if home is not None:
            _move(column, home)
    return valued, without


def _move(column: Column, home: Column) -> None:
    for system, row in column.cells.items():
        for prompt, m in row.items():
            home.row(system).setdefault(prompt, replace(m, definition=home.reading.definition))


def _without_rivals(columns: Sequence[Column]) -> tuple[list[Column], list[Refused]]:
    """Columns of one metric that stand side by side; two that share no system are one metric measured in two ways."""
    rivals: dict[int, Column] = {}
    for n, column in enumerate(columns):
        apart = [other for other in columns if other is not column and not column.systems & other.systems]
        if apart:
            rivals[n] = min(apart, key=lambda other: _distance(column.reading.definition, other.reading.definition))
    alike = [column for n, column in enumerate(columns) if n not in rivals]
    told: dict[frozenset[str], Refused] = {}
    for n, other in rivals.items():
        column = columns[n]
        one, two = column.reading.definition.signature, other.reading.definition.signature
        why = f"{describe_difference(one, two)} ({_names(column.systems)} against {_names(other.systems)})"
        told.setdefault(frozenset({one, two}), Refused(name=column.reading.label, why=why))
    return alike, list(told.values())


def _distance(one: Definition, other: Definition) -> int:
    ours, theirs = (parse_signature(definition.signature)[1] for definition in (one, other))
    return sum(ours.get(key) != theirs.get(key) for key in ours.keys() | theirs.keys())


def _names(systems: Iterable[str]) -> str:
    return ", ".join(sorted(systems))


def _other_references(column: Column) -> str:
    """Why its numbers were not held against the same thing; "" where they were."""
    for prompt, digests in column.references.items():
        if len(set(digests.values())) > 1:
            first = next(iter(digests.values()))
            names = [name for name, digest in digests.items() if digest != first]
            where = f" on {prompt.replace(SAMPLE_SIGN, '-')}" if prompt else ""
            return f"{_names(names)} was compared with another reference than {next(iter(digests))}{where}"
    return ""


def tell_apart(columns: Sequence[Column]) -> None:
    """Columns of one head get what they differ in beside it; at last their signatures."""
    heads = [column.reading.label for column in columns]
    told = told_apart([column.reading for column in columns], heads=heads)
    labels = [spelt(head, words) for head, words in zip(heads, told, strict=True)]
    for column, name in zip(columns, labels, strict=True):
        label = name if labels.count(name) == 1 else spelt(name, column.reading.definition.signature)
        column.reading = replace(column.reading, label=label)
