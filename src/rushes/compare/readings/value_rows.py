"""One system's values of a reading, prompt by prompt: as a column where its run is stored in columns.

A board of hundreds of thousands of prompts takes 8 bytes for a value; a `Measurement` is made when one is asked for.
Rows of runs that are in memory are plain mappings, and everything here takes both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Measurement
from rushes.core.estimate import Value
from rushes.stats.intervals import Floats, Whole
from rushes.storage.columns import ReadingColumn

Row: TypeAlias = Mapping[str, Measurement]
"""A system's values of one reading, by prompt."""
Absent: TypeAlias = Callable[[str], Measurement]
_NOWHERE = -1


class Prompts:
    """Keys of cells in order, and where each stands."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self._places: dict[str, int] | None = None

    def place(self, key: str) -> int:
        """Where this key stands; `KeyError` where it is none."""
        return self._known[key]

    @property
    def _known(self) -> dict[str, int]:
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self.keys)}
        return self._places

    def places(self, wanted: Sequence[str]) -> Whole:
        """Where each of these stands; -1 where it does not."""
        if wanted == self.keys:
            return np.arange(len(wanted))
        found = self._known
        return np.fromiter((found.get(name, _NOWHERE) for name in wanted), dtype=np.int64, count=len(wanted))


class ValueRow(Row):
    """Values in the order of some prompts, each a cell of a column, or of none."""

    __slots__ = ("_absent", "_column", "_rows", "floats", "prompts", "there")

    def __init__(self, column: ReadingColumn, prompts: Prompts, rows: Whole, absent: Absent | None = None) -> None:
        """`rows` says which cell of the column each prompt has, -1 for none; `absent` is then its number."""
        is_all = len(rows) == len(column.values) and bool((rows == np.arange(len(rows))).all())
        held = rows >= 0
        self._column, self._rows, self._absent, self.prompts = column, rows, absent, prompts
        self.floats: Floats = column.values if is_all else np.where(held, column.values[rows], np.nan)
        self.there = column.there if is_all else held & column.there[rows]

    @property
    def kind(self) -> type:
        """Of its values: bool, int or float."""
        return self._column.kind

    @property
    def is_flag(self) -> bool:
        """Whether every value is true or false, and there is one."""
        return self._column.is_flag and not bool(np.isnan(self.floats).all())

    def aligned(self, prompts: Prompts, where: Whole, absent: Absent) -> ValueRow:
        """The same values in the order of other prompts, of which each stands at `where` among these."""
        rows = np.where(where >= 0, self._rows[where], _NOWHERE) if len(self._rows) else np.full(len(where), _NOWHERE)
        return ValueRow(self._column, prompts, rows, absent)

    def sample(self) -> Measurement:
        """One of its numbers."""
        return self._column.sample

    def __len__(self) -> int:
        return len(self._rows) if self._absent else int(np.count_nonzero(self.there))

    def __iter__(self) -> Iterator[str]:
        if self._absent:
            return iter(self.prompts.keys)
        return (self.prompts.keys[place] for place in np.flatnonzero(self.there).tolist())

    def __contains__(self, key: object) -> bool:
        try:
            return bool(self._absent or self.there[self.prompts.place(str(key))])
        except KeyError:
            return False

    def __getitem__(self, key: str) -> Measurement:
        place = self.prompts.place(key)
        if self.there[place]:
            return self._column.number(int(self._rows[place]))
        if self._absent is None:
            raise KeyError(key)
        return self._absent(key)

    def plain(self, keys: Sequence[str]) -> list[Value]:
        """The values of these prompts as they were measured; None where one is missing or has none."""
        places = np.fromiter((self.prompts.place(key) for key in keys), dtype=np.int64, count=len(keys))
        kind = self._column.kind
        found = self.floats[places].tolist()
        return [None if math.isnan(value) else kind(value) if value.is_integer() else value for value in found]


def row_floats(row: Row, keys: Sequence[str]) -> Floats:
    """The values of these prompts; NaN where one is missing or has none."""
    if isinstance(row, ValueRow):
        if row.prompts.keys == keys:
            return row.floats
        where = row.prompts.places(keys)
        return np.where(where >= 0, row.floats[where], np.nan)
    found = (row.get(key) for key in keys)
    given = [np.nan if m is None or m.value is None else float(m.value) for m in found]
    return np.array(given, dtype=np.float64)


def all_floats(row: Row) -> Floats:
    """Every value that there is."""
    if isinstance(row, ValueRow):
        return row.floats[~np.isnan(row.floats)]
    return np.array([float(m.value) for m in row.values() if m.value is not None], dtype=np.float64)


def plain_values(row: Row, keys: Sequence[str]) -> list[Value]:
    """`ValueRow.plain` of any row."""
    if isinstance(row, ValueRow):
        return row.plain(keys)
    return [None if (m := row.get(key)) is None else m.value for key in keys]


def is_valued(row: Row) -> bool:
    """Whether some prompt has a value."""
    if isinstance(row, ValueRow):
        return not bool(np.isnan(row.floats).all())
    return any(m.value is not None for m in row.values())


def valued_keys(row: Row) -> set[str]:
    """The prompts that have a value."""
    if isinstance(row, ValueRow):
        return {row.prompts.keys[place] for place in np.flatnonzero(~np.isnan(row.floats)).tolist()}
    return {key for key, m in row.items() if m.value is not None}


def answered_keys(row: Row, keys: Sequence[str]) -> NDArray[np.bool_]:
    """Which of these prompts have a number, with a value or without."""
    if isinstance(row, ValueRow) and len(row) == len(keys) and row.prompts.keys == keys:
        return np.ones(len(keys), dtype=bool)
    return np.fromiter((key in row for key in keys), dtype=bool, count=len(keys))


def are_flags(row: Row) -> bool:
    """Whether there is a value, and every one is true or false."""
    if isinstance(row, ValueRow):
        return row.is_flag
    found = [m.value for m in row.values() if m.value is not None]
    return bool(found) and all(isinstance(value, bool) for value in found)


def missing_notes(row: Row, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Those of these prompts that have a number without a value, and what it says about that."""
    if isinstance(row, ValueRow):
        lacking = np.isnan(row_floats(row, keys))
        yield from ((key, row[key].note) for key in (keys[n] for n in np.flatnonzero(lacking).tolist()) if key in row)
    else:
        wanted = set(keys)
        yield from ((key, m.note) for key, m in row.items() if m.value is None and key in wanted)
