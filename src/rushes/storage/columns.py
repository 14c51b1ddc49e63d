"""A run by columns, however it is stored: what a comparison of hundreds of thousands of clips is computed from.

A reading is an array of values, 8 bytes a clip; a `Measurement` is made of a cell when one is asked for. Runs in one
piece and runs in shards give equal columns, and so equal bytes of whatever is computed from them.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from operator import eq
from typing import TYPE_CHECKING, Any, TypeAlias, cast

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadingColumn:
    """One reading over some subjects, in their order."""

    definition: Definition
    at: At
    subjects: Sequence[str]
    values: np.ndarray
    """As files have them, with 8 decimals; NaN where there is no value."""
    there: np.ndarray
    """Whether the subject has such a number at all, with a value or without."""
    is_flag: bool
    """Whether every value is true or false."""
    kind: type
    """Of the first value: bool, int or float."""
    numbers: Sequence[Measurement | None]
    """The numbers themselves, by place; None where there is none."""

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
    return _held(run, subjects, only) if shards is None else _stored(shards, subjects, only)


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
                values=stored_floats(np.array([np.nan if value is None else float(value) for value in given])),
                there=np.array([m is not None for m in numbers], dtype=bool),
                is_flag=all(isinstance(value, bool) for value in given if value is not None),
                kind=next((type(value) for value in given if value is not None), float),
                numbers=numbers,
            )
        )
    return found


def _stored(shards: Shards, subjects: Sequence[str], only: Wanted) -> list[ReadingColumn]:
    from rushes.storage.shards.scanning import Present, Values, collect, with_values, without_gaps

    keys = [key for key in shards.readings if only(shards.definitions[key.signature], key.at)]
    positions = _positions(shards, subjects)
    counts = [key.column("count") for key in keys]
    everywhere = without_gaps(shards, counts)
    some = [name for name in counts if name not in everywhere]
    scanned, counted = Values([key.column("value") for key in keys], len(shards)), Present(some)
    collect(shards, scanned, counted)
    columns, present = dict(zip(keys, scanned.found, strict=True)), counted.found()
    noted = with_values(shards, [key.column("note") for key in keys])
    kinds = _kinds(shards, columns)
    found = []
    is_all = len(positions) == len(shards) and bool((np.diff(positions) == 1).all())
    every = np.ones(len(positions), dtype=bool)
    for key, count in zip(keys, counts, strict=True):
        value = columns.pop(key) if is_all else columns.pop(key)[positions]
        there = present[count][positions] if count in present else every
        if there.any():
            cells = _Cells(
                shards=shards,
                key=key,
                positions=positions,
                values=value,
                there=there,
                kind=kinds.get(key, float),
                parts=_parts(shards, key, noted),
            )
            is_flag = cells.kind is bool and bool(np.isin(value[~np.isnan(value)], (0.0, 1.0)).all())
            column = ReadingColumn(
                definition=shards.definitions[key.signature],
                at=key.at,
                subjects=subjects,
                values=value,
                there=there,
                is_flag=is_flag,
                kind=cells.kind,
                numbers=cells,
            )
            found.append(column)
    return sorted(found, key=lambda one: int(np.argmax(one.there)))


def _positions(shards: Shards, subjects: Sequence[str]) -> np.ndarray:
    every = list(_ids(shards))
    if len(every) == len(subjects) and all(map(eq, every, subjects)):
        return np.arange(len(every))
    places = {name: position for position, name in enumerate(every)}
    return np.fromiter((places[name] for name in subjects), dtype=np.int64, count=len(subjects))


def _ids(shards: Shards) -> Iterator[str]:
    """Every id in order; nothing of them is kept, as `Shards.ids` would."""
    from rushes.storage.shards.scanning import batches

    for _, batch in batches(shards, ("id",)):
        yield from batch.column(0).to_pylist()


def _kinds(shards: Shards, columns: Mapping[ReadingKey, np.ndarray]) -> dict[ReadingKey, type]:
    """Whether a reading is of flags, of counts or of floats, by its first value's own line."""
    firsts: dict[int, list[ReadingKey]] = {}
    for key, column in columns.items():
        if (filled := np.flatnonzero(~np.isnan(column))).size:
            firsts.setdefault(int(filled[0]), []).append(key)
    found: dict[ReadingKey, type] = {}
    for position, keys in sorted(firsts.items()):
        numbers = entry_of(shards.line(position), shards.definitions).measurements
        kinds = {(m.signature, m.at): type(m.value) for m in numbers}
        found |= {key: kinds.get((key.signature, key.at), float) for key in keys}
    return found


def _parts(shards: Shards, key: ReadingKey, noted: frozenset[str]) -> tuple[str, ...]:
    note = ("note",) if key.column("note") in noted else ()
    return ("count", *note, *(_INTERVAL if key in shards.index.intervals or shards.loose else ()))


@dataclass(slots=True, kw_only=True, eq=False)
class _Cells(LazySequence["Measurement | None"]):
    """The numbers of one stored reading: notes and intervals are read when a number is first asked for."""

    shards: Shards
    key: ReadingKey
    positions: np.ndarray
    values: np.ndarray
    there: np.ndarray
    kind: type
    parts: tuple[str, ...]
    _more: dict[str, Any] | None = field(default=None)

    def __len__(self) -> int:
        return len(self.positions)

    def _at(self, position: int) -> Measurement | None:
        if not self.there[position]:
            return None
        where, value = int(self.positions[position]), float(self.values[position])
        # Why not, 1 or 1.0: its own line knows. So does that of the first clip, which every reading is asked about.
        if np.isnan(value) or where == 0 or (self.kind is not bool and value.is_integer()):
            numbers = entry_of(self.shards.line(where), self.shards.definitions).measurements
            return next(m for m in numbers if (m.signature, m.at) == (self.key.signature, self.key.at))
        more = {part: column[where].as_py() for part, column in self._columns().items()}
        interval = None if more.get("low") is None else Interval(**{part: more[part] for part in _INTERVAL})
        return Measurement(
            definition=self.shards.definitions[self.key.signature],
            value=bool(value) if self.kind is bool else value,
            count=more["count"],
            note=more.get("note") or "",
            at=self.key.at,
            interval=interval,
        )

    def _columns(self) -> dict[str, Any]:
        if self._more is None:
            from rushes.storage.shards.scanning import stored_columns

            names = [self.key.column(part) for part in self.parts]
            found = stored_columns(self.shards, names) if names else []
            self._more = dict(zip(self.parts, found, strict=True))
        return self._more


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
