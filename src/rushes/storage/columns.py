"""A run by columns, however it is stored: what a comparison of hundreds of thousands of clips is computed from.

A reading is an array of values, 8 bytes a clip; a `Measurement` is made of a cell when one is asked for. Runs in one
piece and runs in shards give equal columns, and so equal bytes of whatever is computed from them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import repeat
from operator import eq
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from rushes.core import Definition, Interval, Measurement
from rushes.core.measurement import At
from rushes.core.reading import Same
from rushes.core.reason import Reason
from rushes.stats.rounding import stored_floats
from rushes.storage.lazy import LazySequence
from rushes.storage.runs.packing import entry_of, subject_of
from rushes.storage.runs.readings import every_reading
from rushes.storage.runs.run import Run
from rushes.storage.runs.subjects import Subject

if TYPE_CHECKING:
    from rushes.storage.shards.reading import Shards
    from rushes.storage.shards.table import ReadingKey

_SUBJECT = ("id", "kind", "path", "sha256", "badge", "facts", "reason_kind", "reasons")
_SHARED = ("kind", "badge", "facts")
_INTERVAL = ("low", "high", "level", "method")
_TOGETHER = 16
"""Columns of values that are read at once: of fewer, most of the time goes into opening files."""
_LINES = 16
"""Clips of which every number is kept."""


class Cells(Protocol):
    """What a reading has for each of its subjects. Of a run in shards, values are read when they are asked for."""

    @property
    def values(self) -> np.ndarray: ...
    @property
    def has_value(self) -> bool: ...
    @property
    def is_flag(self) -> bool: ...
    @property
    def kind(self) -> type: ...
    @property
    def numbers(self) -> Sequence[Measurement | None]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldCells:
    """Cells in memory."""

    values: np.ndarray
    is_flag: bool
    kind: type
    numbers: Sequence[Measurement | None]

    @property
    def has_value(self) -> bool:
        return not bool(np.isnan(self.values).all())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadingColumn:
    """One reading over some subjects, in their order."""

    definition: Definition
    at: At
    subjects: Sequence[str]
    there: np.ndarray
    """Whether the subject has such a number at all, with a value or without."""
    cells: Cells

    @property
    def values(self) -> np.ndarray:
        """As files have them, with 8 decimals; NaN where there is no value.

        Columns of a run in shards are quickest one after the other: some are read at once, and none is kept for long.
        """
        return self.cells.values

    @property
    def has_value(self) -> bool:
        """Whether some subject has a value; of all clips of a run in shards, no value is read for it."""
        return self.cells.has_value

    @property
    def is_flag(self) -> bool:
        """Whether every value is true or false."""
        return self.cells.is_flag

    @property
    def kind(self) -> type:
        """Of the first value: bool, int or float."""
        return self.cells.kind

    @property
    def numbers(self) -> Sequence[Measurement | None]:
        """The numbers themselves, by place; None where there is none."""
        return self.cells.numbers

    @property
    def same(self) -> Same:
        return self.definition.signature, self.at

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.definition.name

    @property
    def valued(self) -> np.ndarray:
        """Which subjects have a value."""
        return np.asarray(~np.isnan(self.values))

    @property
    def sample(self) -> Measurement:
        """The first of its numbers: which reading this is, and what it is about."""
        return self.number(int(np.argmax(self.there)))

    def number(self, place: int) -> Measurement:
        """The number of one subject, which must have it."""
        found = self.numbers[place]
        assert found is not None
        return found


class ColumnValues(Mapping[str, Measurement]):
    """The numbers of a column by subject, each made when it is asked for."""

    def __init__(self, column: ReadingColumn) -> None:
        self.column = column
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return int(np.count_nonzero(self.column.there))

    def __iter__(self) -> Iterator[str]:
        return (self.column.subjects[place] for place in np.flatnonzero(self.column.there).tolist())

    def __getitem__(self, subject: str) -> Measurement:
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self.column.subjects)}
        found = self.column.numbers[self._places[subject]]
        if found is None:
            raise KeyError(subject)
        return found


Wanted: TypeAlias = Callable[[Definition, At], bool]
"""Whether a reading is asked for, by its definition and what it is about."""


def reading_columns(
    run: Run, subjects: Sequence[str], *, only: Wanted = lambda definition, at: True
) -> list[ReadingColumn]:
    """Every reading of these subjects, in order of first appearance among them; those that none of them has are out.

    `only` says which readings to look at.
    """
    shards = stored_shards(run)
    return _held(run, subjects, only) if shards is None else _stored(run, shards, subjects, only)


def stored_shards(run: Run) -> Shards | None:
    """The shards that the run's numbers still are; None of a run in one piece, or one whose numbers were averaged."""
    shards: Shards | None = getattr(run.measurements, "shards", None)
    return shards


def _held(run: Run, subjects: Sequence[str], only: Wanted) -> list[ReadingColumn]:
    found = []
    for reading in (one for one in every_reading(run, subjects) if only(one.definition, one.at)):
        numbers = [reading.values.get(name) for name in subjects]
        given = [None if m is None else m.value for m in numbers]
        found.append(
            ReadingColumn(
                definition=reading.definition,
                at=reading.at,
                subjects=subjects,
                there=np.array([m is not None for m in numbers], dtype=bool),
                cells=HeldCells(
                    values=stored_floats(np.array([np.nan if value is None else float(value) for value in given])),
                    is_flag=all(isinstance(value, bool) for value in given if value is not None),
                    kind=next((type(value) for value in given if value is not None), float),
                    numbers=numbers,
                ),
            )
        )
    return found


def _stored(run: Run, shards: Shards, subjects: Sequence[str], only: Wanted) -> list[ReadingColumn]:
    from rushes.storage.shards.scanning import Present, collect, filled

    keys = [key for key in shards.readings if only(shards.definitions[key.signature], key.at)]
    positions = _positions(run, shards, subjects)
    parts = [tuple(map(key.column, ("count", "value", "note"))) for key in keys]
    many = filled(shards, [name for names in parts for name in names])
    counted = Present([count for count, _, _ in parts if 0 < many[count] < len(shards)])
    if counted.columns:
        collect(shards, counted)
    every, present = np.ones(len(positions), dtype=bool), counted.found()
    held = [
        (key, there, many[value], many[note])
        for key, (count, value, note) in zip(keys, parts, strict=True)
        if many[count] and (there := present[count][positions] if count in present else every).any()
    ]
    held.sort(key=lambda one: int(np.argmax(one[1])))
    stored = _StoredValues(shards, [key for key, *_ in held], positions)
    return [
        ReadingColumn(
            definition=shards.definitions[key.signature],
            at=key.at,
            subjects=subjects,
            there=there,
            cells=_StoredCells(stored, key, there, valued=valued > 0, noted=noted > 0),
        )
        for key, there, valued, noted in held
    ]


def _positions(run: Run, shards: Shards, subjects: Sequence[str]) -> np.ndarray:
    every = [one.id for one in run.subjects] if isinstance(run.subjects, tuple) else list(_ids(shards))
    if len(every) == len(subjects) and all(map(eq, every, subjects)):
        return np.arange(len(every))
    places = {name: position for position, name in enumerate(every)}
    return np.fromiter((places[name] for name in subjects), dtype=np.int64, count=len(subjects))


def _ids(shards: Shards) -> Iterator[str]:
    """Every id in order; nothing of them is kept, as `Shards.ids` would."""
    from rushes.storage.shards.scanning import batches

    for _, batch in batches(shards, ("id",)):
        yield from batch.column(0).to_pylist()


class _StoredValues:
    """Values of a run in shards: read some readings at a time, of which the last are kept."""

    def __init__(self, shards: Shards, keys: Sequence[ReadingKey], positions: np.ndarray) -> None:
        self.shards, self.positions, self._keys = shards, positions, keys
        self.is_all = len(positions) == len(shards) and bool((np.diff(positions) == 1).all())
        self._places = {key: place for place, key in enumerate(keys)}
        self._last: dict[ReadingKey, np.ndarray] = {}
        self.numbers = lru_cache(maxsize=_LINES)(self._numbers)

    def of(self, key: ReadingKey) -> np.ndarray:
        """One reading's. Those that follow it are read with it."""
        if key not in self._last:
            from rushes.storage.shards.scanning import values

            place = self._places[key]
            keys = self._keys[place : place + _TOGETHER]
            found = values(self.shards, [one.column("value") for one in keys])
            rows = (one if self.is_all else one[self.positions] for one in found)
            self._last = dict(zip(keys, rows, strict=True))
        return self._last[key]

    def _numbers(self, position: int) -> tuple[Measurement, ...]:
        return entry_of(self.shards.line(position), self.shards.definitions).measurements

    def number(self, key: ReadingKey, position: int) -> Measurement:
        """A number of the clip at a position of the run, out of its own line."""
        return next(m for m in self.numbers(position) if (m.signature, m.at) == (key.signature, key.at))


class _StoredCells(LazySequence["Measurement | None"]):
    """The cells of one stored reading; itself its numbers, of which one is read when it is asked for."""

    def __init__(self, stored: _StoredValues, key: ReadingKey, there: np.ndarray, *, valued: bool, noted: bool) -> None:
        shards = stored.shards
        note = ("note",) if noted else ()
        interval = _INTERVAL if key in shards.index.intervals or shards.loose else ()
        self._stored, self._key, self._there, self._valued = stored, key, there, valued
        self._parts = ("value", "count", *note, *interval)
        self._group: tuple[range, dict[str, Any]] = range(0), {}

    @property
    def values(self) -> np.ndarray:
        return self._stored.of(self._key)

    @cached_property
    def has_value(self) -> bool:
        return self._valued and (self._stored.is_all or not bool(np.isnan(self.values).all()))

    @property
    def numbers(self) -> Sequence[Measurement | None]:
        return self

    @cached_property
    def kind(self) -> type:
        """Its first value's own line says whether a reading is of flags, of counts or of floats."""
        valued = ~np.isnan(self.values)
        if not valued.any():
            return float
        return type(self._stored.number(self._key, int(self._stored.positions[np.argmax(valued)])).value)

    @cached_property
    def is_flag(self) -> bool:
        values = self.values
        return self.kind is bool and bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())

    def __len__(self) -> int:
        return len(self._stored.positions)

    def _at(self, position: int) -> Measurement | None:
        if not self._there[position]:
            return None
        where, shards = int(self._stored.positions[position]), self._stored.shards
        # The first clip's line has a number of every reading that is asked what it is.
        cell = self._cell(where) if 0 < where < shards.index.rows else {}
        value = cell.get("value")
        if value is None or value.is_integer():  # why not; 1, 1.0 or true: its own line knows
            return self._stored.number(self._key, where)
        interval = None if cell.get("low") is None else Interval(**{part: cell[part] for part in _INTERVAL})
        return Measurement(
            definition=shards.definitions[self._key.signature],
            value=value,
            count=cell["count"],
            note=cell.get("note") or "",
            at=self._key.at,
            interval=interval,
        )

    def _cell(self, position: int) -> dict[str, Any]:
        """The parts of one cell; those of its neighbours are kept."""
        if position not in self._group[0]:
            from rushes.storage.shards.scanning import group_at

            names = [self._key.column(part) for part in self._parts]
            rows, columns = group_at(self._stored.shards, position, names)
            self._group = rows, dict(zip(self._parts, columns, strict=True))
        rows, found = self._group
        return {part: column[position - rows.start].as_py() for part, column in found.items()}


def first_definitions(run: Run) -> set[Definition]:
    """The definitions of the clips' first numbers: of a run in shards, every form of the first clip's."""
    shards = stored_shards(run)
    if shards is None:
        return {m.definition for entry in run.entries for m in entry.measurements[:1]}
    names = {m.name for m in entry_of(shards.line(0), shards.definitions).measurements[:1]} if len(shards) else set()
    return {definition for definition in shards.definitions.values() if definition.name in names}


def with_subjects(run: Run) -> Run:
    """The run with its subjects in memory, where it is in shards: ids, paths and signals; the rest as it is asked for.

    Clips with equal facts share them. A run that is in memory is given back as it is.
    """
    shards = stored_shards(run)
    if shards is None or isinstance(run.subjects, tuple):
        return run
    return replace(run, subjects=tuple(_subjects(shards)))


def _subjects(shards: Shards) -> Iterator[Subject]:
    from rushes.storage.shards.scanning import batches

    known: dict[str, Mapping[str, object]] = {}
    for first, batch in batches(shards, _SUBJECT, coded=_SHARED):
        facts = batch.column(5) if hasattr(batch.column(5), "indices") else batch.column(5).dictionary_encode()
        texts = facts.dictionary.to_pylist()
        shared = [known.setdefault(text, json.loads(text)) for text in texts]
        kinds, texts = (column.to_pylist() for column in batch.columns[6:])
        reasons: list[Sequence[Reason]] = [()] * len(kinds)
        for row, (why, told) in enumerate(zip(kinds, texts, strict=True)):
            if why:
                reasons[row] = StoredReasons(shards, first + row, tuple(why))
            elif told:  # a shard of format 3 has the sentences alone
                reasons[row] = subject_of(shards.line(first + row)).why
        id_, kind, path, sha256, badge = map(_cells, batch.columns[:5])
        places = [shared[place] for place in facts.indices.to_pylist()]
        yield from _subjects_of((id_, kind, path, sha256, places, badge, reasons))


def _cells(column: Any) -> list[object]:
    """A column's values; one text for all clips that have the same, where it is stored like that."""
    if not hasattr(column, "indices"):
        return list(column.to_pylist())
    texts = {None: None} | dict(enumerate(column.dictionary.to_pylist()))
    return list(map(texts.__getitem__, column.indices.to_pylist()))


def _subjects_of(columns: Sequence[Sequence[object]]) -> list[Subject]:
    """Subjects of which nothing is copied: reasons stay where they are until somebody asks for one."""
    made = list(map(object.__new__, repeat(Subject, len(columns[0]))))
    for put, values in zip(_PUT, columns, strict=True):
        deque(map(put, made, values), maxlen=0)  # column by column, so that the loop over clips is not Python's
    return made


_PUT = tuple(getattr(Subject, name).__set__ for name in Subject.__slots__)
"""As `object.__setattr__`, which a frozen class needs, and twice as quick."""


class StoredReasons(LazySequence[Reason]):
    """The reasons of a clip in a shard. Their kinds are known; the rest is in the clip's line."""

    def __init__(self, shards: Shards, position: int, kinds: tuple[str, ...]) -> None:
        self._shards, self._position, self.kinds = shards, position, kinds

    def __len__(self) -> int:
        return len(self.kinds)

    def _at(self, position: int) -> Reason:
        return self._read[position]

    @cached_property
    def _read(self) -> tuple[Reason, ...]:
        return subject_of(self._shards.line(self._position)).why


def reason_kinds(subject: Subject) -> set[str]:
    """What the reasons of a clip's review signal are, by kind: {"flickers", "frozen"}."""
    why = cast("Sequence[Reason]", subject.why)
    return set(why.kinds) if isinstance(why, StoredReasons) else {reason.kind for reason in why}
