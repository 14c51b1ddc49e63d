"""Numbers of several systems as columns: one signature and one place each, or refused with what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rushes.core import Definition, Measurement
from rushes.core.definition import describe_difference, parse_signature
from rushes.core.measurement import At
from rushes.core.selection import differing_keys
from rushes.core.selection import label as told_apart
from rushes.suite.board_data import Reading, RefusedReading
from rushes.suite.collect_numbers import Number

WHOLE = ""
"""Key of a number that is about a system and no prompt."""
SAMPLE_SIGN = "\0"
"""Between a prompt's id and the number of its sample, in the key of a cell; no name of a file has it."""
_UNSET = "none"
"""What a parameter reads that was never settled, because nothing could be measured."""
_Topic: TypeAlias = tuple[str, str, At, bool]
"""Instrument, metric, what it is about, and whether it is per prompt: columns of one topic may be rivals."""


@dataclass(slots=True, kw_only=True)
class Column:
    """Everything measured under one signature about one thing."""

    definition: Definition
    label: str
    instrument: str
    at: At
    per_prompt: bool
    minor: bool
    cells: dict[str, dict[str, Measurement]] = field(default_factory=dict)
    """By system and prompt."""
    disputed: set[tuple[str, str]] = field(default_factory=set)
    """Cells for which two runs gave two values."""
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    """By prompt and system: digests of what a number was held against."""

    @property
    def reading(self) -> Reading:
        return Reading(
            definition=self.definition,
            label=self.label,
            instrument=self.instrument,
            per_prompt=self.per_prompt,
            at=self.at,
        )

    @property
    def systems(self) -> frozenset[str]:
        """Those with a value."""
        return frozenset(name for name, row in self.cells.items() if any(m.value is not None for m in row.values()))

    @property
    def numbers(self) -> list[Measurement]:
        return [m for row in self.cells.values() for m in row.values()]

    @property
    def tells(self) -> bool:
        """Whether its values are not all the same."""
        return len({m.value for m in self.numbers if m.value is not None}) > 1

    def add(self, system: str, prompt: str, number: Number) -> None:
        """Put a number into its cell. The same number from two runs counts once, two different ones are none."""
        row = self.cells.setdefault(system, {})
        before, new = row.get(prompt), number.measurement
        if (system, prompt) in self.disputed:
            return
        if before is None or before.value is None:
            row[prompt] = new
        elif new.value is not None and new.stored_value != before.stored_value:
            note = f"two runs of {system} give two values: {before.stored_value} and {new.stored_value}"
            row[prompt] = Measurement.missing(self.definition, note, at=new.at)
            self.disputed.add((system, prompt))
        if number.reference is not None:
            self.references.setdefault(prompt, {})[system] = number.reference


class Columns:
    """Columns in the order in which their first numbers came."""

    def __init__(self) -> None:
        self._found: dict[tuple[_Topic, str], Column] = {}

    def add(self, system: str, prompt: str, number: Number) -> None:
        """`prompt` is its id, or WHOLE."""
        m, is_prompted = number.measurement, prompt != WHOLE
        topic = (number.instrument, m.name, number.at, is_prompted)
        column = self._found.get((topic, m.signature))
        if column is None:
            column = self._found[topic, m.signature] = Column(
                definition=m.definition,
                label=number.label,
                instrument=number.instrument,
                at=number.at,
                per_prompt=is_prompted,
                minor=number.minor,
            )
        column.add(system, prompt, number)

    def settled(self) -> tuple[list[Column], list[RefusedReading]]:
        """The columns of a board, and what is refused."""
        topics: dict[_Topic, list[Column]] = {}
        for (topic, _), column in self._found.items():
            topics.setdefault(topic, []).append(column)
        kept: list[Column] = []
        refused: list[RefusedReading] = []
        for columns in topics.values():
            valued, without = _joined(columns)
            refused += without
            alike, rivals = _without_rivals(valued)
            refused += rivals
            for column in alike:
                if why := _other_references(column):
                    refused.append(RefusedReading(name=column.label, why=why))
                elif not column.minor or column.tells:
                    kept.append(column)
        _tell_apart(kept)
        return kept, refused


def _joined(columns: Sequence[Column]) -> tuple[list[Column], list[RefusedReading]]:
    """Columns with a value. One without goes into that whose parameters it never came to set, or is refused."""
    valued = [column for column in columns if column.systems]
    without = []
    for column in (column for column in columns if not column.systems):
        home = next((other for other in valued if _is_unset(column.definition, other.definition)), None)
        if home is None and not column.minor and not valued:
            note = next((m.note for m in column.numbers if m.note), "no value")
            without.append(RefusedReading(name=column.label, why=f"no clip has a value: {note}"))
        if home is not None:
            _move(column, home)
    return valued, without


def _move(column: Column, home: Column) -> None:
    for system, row in column.cells.items():
        for prompt, m in row.items():
            home.cells.setdefault(system, {}).setdefault(prompt, replace(m, definition=home.definition))


def _is_unset(one: Definition, other: Definition) -> bool:
    ours, theirs = dict(one.params), dict(other.params)
    return ours.keys() == theirs.keys() and all(value in (theirs[key], _UNSET) for key, value in ours.items())


def _without_rivals(columns: Sequence[Column]) -> tuple[list[Column], list[RefusedReading]]:
    """Columns of one metric that stand side by side; two that share no system are one metric measured in two ways."""
    rivals: dict[int, Column] = {}
    for n, column in enumerate(columns):
        apart = [other for other in columns if other is not column and not column.systems & other.systems]
        if apart:
            rivals[n] = min(apart, key=lambda other: _distance(column.definition, other.definition))
    alike = [column for n, column in enumerate(columns) if n not in rivals]
    told: dict[frozenset[str], RefusedReading] = {}
    for n, other in rivals.items():
        column = columns[n]
        one, two = column.definition.signature, other.definition.signature
        why = f"{describe_difference(one, two)} ({_names(column.systems)} against {_names(other.systems)})"
        told.setdefault(frozenset({one, two}), RefusedReading(name=column.label, why=why))
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
            return f"{_names(names)} was held against another reference than {next(iter(digests))}{where}"
    return ""


def _tell_apart(columns: Sequence[Column]) -> None:
    """Columns of one head get what they differ in beside it; at last their signatures."""
    for keys_of in (_differing, _signatures):
        heads = Counter(column.label for column in columns)
        groups: Mapping[str, list[Column]] = {
            head: [column for column in columns if column.label == head] for head, n in heads.items() if n > 1
        }
        for head, group in groups.items():
            for column, words in zip(group, keys_of(group), strict=True):
                column.label = ", ".join(filter(None, (head, words)))


def _differing(group: Sequence[Column]) -> list[str]:
    firsts = [column.numbers[0] for column in group]
    keys = [key for key in differing_keys(firsts) if key != "system"]
    return [told_apart(m, keys) for m in firsts]


def _signatures(group: Sequence[Column]) -> list[str]:
    return [column.definition.signature for column in group]
