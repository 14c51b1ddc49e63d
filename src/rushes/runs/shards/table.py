"""Entries as columns: one row per clip, with three columns per reading and the entry's own line as the truth.

The columns are for questions. The line is what was measured, to the letter: whether a value was `1`, `1.0` or `true`,
its interval, and the order of the numbers. So a clip read back from a shard is the clip that was written, and the
digest of a run does not depend on how it is stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rushes.core.canonical import canonical_json
from rushes.runs.digests import line_digest

if TYPE_CHECKING:
    import pyarrow as pa

FIXED = ("number", "id", "kind", "path", "sha256", "badge", "reasons", "facts", "digest", "line")
SERIES = ("series_start", "series_bytes")
_PARTS = ("value", "count", "note")
_INTERVAL = ("low", "high", "level", "method")


@dataclass(frozen=True, slots=True)
class ReadingKey:
    """What tells one column of numbers from another: the signature, and what the number is about."""

    signature: str
    at: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        return f"{self.signature}@{canonical_json(dict(self.at))}" if self.at else self.signature

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.signature.partition("|")[0]

    def column(self, part: str) -> str:
        """The column of one part of it: value, count, note, low, high, level, method.

        >>> ReadingKey("blur_score|v:1").column("value")
        'value:blur_score|v:1'
        """
        return f"{part}:{self.text}"

    def as_dict(self) -> dict[str, object]:
        return {"signature": self.signature, "at": dict(self.at)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ReadingKey:
        return cls(str(data["signature"]), tuple(sorted((str(k), str(v)) for k, v in data["at"].items())))


class Columns:
    """Collects lines into columns; `table` gives them as an Arrow table."""

    def __init__(self) -> None:
        self._fixed: dict[str, list[Any]] = {name: [] for name in FIXED}
        self._readings: dict[tuple[str, object], tuple[ReadingKey, dict[str, list[Any]]]] = {}
        self.rows = 0
        self.measurements = 0
        self.signatures: dict[str, None] = {}

    def column(self, name: str) -> list[Any]:
        """One of the columns that every run has."""
        return self._fixed[name]

    @property
    def readings(self) -> list[ReadingKey]:
        return [key for key, _ in self._readings.values()]

    @property
    def intervals(self) -> list[ReadingKey]:
        """Those of which some number has an interval."""
        return [key for key, parts in self._readings.values() if "low" in parts]

    def add(self, line: bytes, number: int) -> None:
        """One clip's line as the next row."""
        record = json.loads(line)
        subject, fixed = record["subject"], self._fixed
        fixed["number"].append(number)
        for name in ("id", "kind", "path", "sha256", "badge", "reasons"):
            fixed[name].append(subject[name])
        fixed["facts"].append(canonical_json(subject["facts"]))
        fixed["digest"].append(line_digest(line))
        fixed["line"].append(line)
        for row in record["measurements"]:
            self._add_number(row)
        self.rows += 1
        self.measurements += len(record["measurements"])

    def _add_number(self, row: Mapping[str, Any]) -> None:
        signature, at = row["signature"], row.get("at")
        mark = (signature, None if at is None else tuple(at.items()))
        found = self._readings.get(mark)
        if found is None:
            key = ReadingKey(signature, () if at is None else tuple(sorted(at.items())))
            found = self._readings[mark] = (key, {part: [] for part in _PARTS})
            self.signatures[signature] = None
        parts = found[1]
        values = parts["value"]
        if len(values) > self.rows:  # a second number of one signature about one thing: the line alone has it
            return
        _fill(parts, self.rows)
        value = row["value"]
        values.append(None if value is None else float(value))
        parts["count"].append(row["count"])
        parts["note"].append(row["note"] or None)
        interval = row.get("interval")
        if interval is not None and "low" not in parts:
            parts.update({part: [None] * self.rows for part in _INTERVAL})
        if "low" in parts:
            for part in _INTERVAL:
                parts[part].append(None if interval is None else interval[part])

    def table(self, series: Sequence[tuple[int, int]]) -> pa.Table:
        """All rows; `series` is the start and the length of each clip's series in its file."""
        import pyarrow as pa

        types = _types()
        columns: dict[str, Any] = {name: pa.array(self._fixed[name], types[name]) for name in FIXED}
        for position, name in enumerate(SERIES):
            columns[name] = pa.array([place[position] for place in series], types[name])
        for key, parts in self._readings.values():
            _fill(parts, self.rows)
            for part, values in parts.items():
                columns[key.column(part)] = pa.array(values, types[part])
        return pa.table(columns)


def _fill(parts: Mapping[str, list[Any]], rows: int) -> None:
    """Empty cells up to this row."""
    if len(parts["value"]) < rows:
        for values in parts.values():
            values.extend([None] * (rows - len(values)))


def _types() -> dict[str, Any]:
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    types = dict.fromkeys(("id", "kind", "path", "sha256", "badge", "facts", "note", "method"), text)
    types |= dict.fromkeys(("number", "count", *SERIES), whole)
    types |= dict.fromkeys(("value", "low", "high", "level"), real)
    return types | {"reasons": pa.list_(text), "digest": pa.binary(32), "line": pa.binary()}


def schema(readings: Iterable[ReadingKey], intervals: Iterable[ReadingKey]) -> pa.Schema:
    """The columns of a whole run: a shard that has no number of a reading has no column for it."""
    import pyarrow as pa

    types, wide = _types(), set(intervals)
    fields = [(name, types[name]) for name in (*FIXED, *SERIES)]
    for key in readings:
        parts = (*_PARTS, *_INTERVAL) if key in wide else _PARTS
        fields += [(key.column(part), types[part]) for part in parts]
    return pa.schema(fields)
