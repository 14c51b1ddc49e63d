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
from rushes.core.reason import severity_of
from rushes.storage.runs.packing import line_digest
from rushes.storage.runs.subjects import reasons_of

if TYPE_CHECKING:
    import pyarrow as pa

FIXED = (
    *("number", "id", "kind", "path", "sha256", "badge", "severity", "reasons", "reason_about", "reason_kind"),
    *("facts", "digest", "line"),
)
"""Columns that every run has. Reasons are sentences; beside them, to count by, what each is about and its kind.
`severity` is 0 where no rule fired, and null in shards of before 0.3."""
SERIES = ("series_start", "series_bytes")
_PARTS = ("value", "count", "note")
_INTERVAL = ("low", "high", "level", "method")


@dataclass(frozen=True, slots=True)
class ReadingKey:
    """What tells one column of numbers from another: the signature, and what the number is about."""

    signature: str
    at: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.signature.partition("|")[0]

    def column(self, part: str) -> str:
        """The column of one part of it: value, count, note, low, high, level, method.

        >>> ReadingKey("blur_score|v:1").column("value")
        'value:blur_score|v:1'
        """
        about = f"@{canonical_json(dict(self.at))}" if self.at else ""
        return f"{part}:{self.signature}{about}"

    def as_dict(self) -> dict[str, object]:
        return {"signature": self.signature, "at": dict(self.at)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ReadingKey:
        return cls(str(data["signature"]), tuple(sorted((str(k), str(v)) for k, v in data["at"].items())))


class _Numbers:
    """The columns of one reading; interval columns only from the first interval on."""

    __slots__ = ("counts", "intervals", "key", "notes", "values")

    def __init__(self, key: ReadingKey) -> None:
        self.key = key
        self.values: list[float | None] = []
        self.counts: list[int | None] = []
        self.notes: list[str | None] = []
        self.intervals: list[Mapping[str, Any] | None] | None = None

    def fill(self, rows: int) -> None:
        """Empty cells up to this row."""
        gap: list[None] = [None] * (rows - len(self.values))
        self.values.extend(gap)
        self.counts.extend(gap)
        self.notes.extend(gap)
        if self.intervals is not None:
            self.intervals.extend(gap)

    def columns(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {"value": self.values, "count": self.counts, "note": self.notes}
        if self.intervals is not None:
            found |= {part: [row and row[part] for row in self.intervals] for part in _INTERVAL}
        return found


class Columns:
    """Collects lines into columns; `table` gives them as an Arrow table."""

    def __init__(self) -> None:
        self._fixed: dict[str, list[Any]] = {name: [] for name in FIXED}
        self._numbers: dict[Any, _Numbers] = {}
        self.rows = 0
        self.measurements = 0
        self.signatures: dict[str, None] = {}

    def column(self, name: str) -> list[Any]:
        """One of the columns that every run has."""
        return self._fixed[name]

    @property
    def readings(self) -> list[ReadingKey]:
        return [numbers.key for numbers in self._numbers.values()]

    @property
    def intervals(self) -> list[ReadingKey]:
        """Those of which some number has an interval."""
        return [numbers.key for numbers in self._numbers.values() if numbers.intervals is not None]

    def add(self, line: bytes, number: int) -> None:
        """One clip's line as the next row."""
        record = json.loads(line)
        subject, fixed = record["subject"], self._fixed
        fixed["number"].append(number)
        for name in ("id", "kind", "path", "sha256", "badge"):
            fixed[name].append(subject[name])
        why = reasons_of(subject)
        fixed["severity"].append(severity_of(why))
        fixed["reasons"].append([reason.text for reason in why])
        fixed["reason_about"].append([reason.about for reason in why])
        fixed["reason_kind"].append([reason.kind for reason in why])
        fixed["facts"].append(_json(subject["facts"]))
        fixed["digest"].append(line_digest(line))
        fixed["line"].append(line)
        rows, known = self.rows, self._numbers
        for row in record["measurements"]:  # the greater part of the work; hence so plain
            at = row.get("at")
            mark = row["signature"] if at is None else (row["signature"], *at.items())
            numbers = known.get(mark)
            if numbers is None:
                numbers = self._new(mark, row["signature"], at or {})
            missing = rows - len(numbers.values)
            if missing > 0:
                numbers.fill(rows)
            elif missing < 0:  # a second number of one signature about one thing: the line alone has it
                continue
            value = row["value"]
            numbers.values.append(None if value is None else float(value))
            numbers.counts.append(row["count"])
            numbers.notes.append(row["note"] or None)
            interval = row.get("interval")
            if numbers.intervals is not None:
                numbers.intervals.append(interval)
            elif interval is not None:
                numbers.intervals = [*[None] * rows, interval]
        self.rows += 1
        self.measurements += len(record["measurements"])

    def _new(self, mark: object, signature: str, at: Mapping[str, str]) -> _Numbers:
        self.signatures[signature] = None
        self._numbers[mark] = _Numbers(ReadingKey(signature, tuple(sorted(at.items()))))
        return self._numbers[mark]

    def table(self, series: Sequence[tuple[int, int]]) -> pa.Table:
        """All rows; `series` is the start and the length of each clip's series in its file."""
        import pyarrow as pa

        types = _types()
        columns: dict[str, Any] = {name: pa.array(self._fixed[name], types[name]) for name in FIXED}
        for position, name in enumerate(SERIES):
            columns[name] = pa.array([place[position] for place in series], types[name])
        for numbers in self._numbers.values():
            numbers.fill(self.rows)
            for part, cells in numbers.columns().items():
                columns[numbers.key.column(part)] = pa.array(cells, types[part])
        return pa.table(columns)


def _json(facts: object) -> str:
    """Plain data as it stands in its line: what came out of canonical JSON goes back as it was."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _types() -> dict[str, Any]:
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    types = dict.fromkeys(("id", "kind", "path", "sha256", "badge", "facts", "note", "method"), text)
    types |= dict.fromkeys(("number", "count", *SERIES), whole)
    types |= dict.fromkeys(("value", "low", "high", "level", "severity"), real)
    types |= dict.fromkeys(("reasons", "reason_about", "reason_kind"), pa.list_(text))
    return types | {"digest": pa.binary(32), "line": pa.binary()}


def column_type(name: str) -> Any:
    """Arrow's type of a column, by its name: of one that every run has, or of a part of a reading."""
    types = _types()
    return types[name] if name in types else types[name.partition(":")[0]]


def schema(readings: Iterable[ReadingKey], intervals: Iterable[ReadingKey]) -> pa.Schema:
    """The columns of a whole run: a shard that has no number of a reading has no column for it."""
    import pyarrow as pa

    types, wide = _types(), set(intervals)
    fields = [(name, types[name]) for name in (*FIXED, *SERIES)]
    for key in readings:
        parts = (*_PARTS, *_INTERVAL) if key in wide else _PARTS
        fields += [(key.column(part), types[part]) for part in parts]
    return pa.schema(fields)
