"""SQL over a run: DuckDB on the run's own files, read-only, with a column per metric.

Two views. `clips` has one row per clip: number, id, path, kind, sha256, badge, reasons (a list), facts (JSON text), and
a column per reading with its value. `measurements` has one row per number: number, subject, badge, name, value, count,
note, low, high, level, method (of the interval), signature, place (JSON text). A true/false value is 1 or 0.

A reading's column is called by its metric. Of several readings of one metric the first in the run has that name; the
others have the settings behind it in which they differ: `blur_score_statistic_p10`. `columns_of` says which signature
is which column.

Only one SELECT is run. No other file can be read or written, no extension loaded, no setting changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Definition
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.registry import optional_package
from rushes.storage.runs.packing import pack
from rushes.storage.runs.reader import opened_run
from rushes.storage.runs.run import Run
from rushes.storage.shards.table import Columns, ReadingKey

if TYPE_CHECKING:
    import pyarrow as pa

CLIP_COLUMNS = ("number", "id", "path", "kind", "sha256", "badge", "reasons", "facts")
_SETTINGS = (
    "set threads = 1",  # sums in one order: the same question, the same bytes
    "set python_enable_replacements = false",  # no variable of this program is a table
    "set autoload_known_extensions = false",
    "set autoinstall_known_extensions = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
_BATCH = 8192


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `clips` that holds numbers."""

    name: str
    key: ReadingKey
    definition: Definition

    @property
    def signature(self) -> str:
        return self.key.signature


def columns_of(run: Run) -> list[Column]:
    """The columns of `clips` that hold numbers, in stored order."""
    if run.shards is not None:
        return _named(run.shards.readings, run.shards.definitions)
    readings: dict[ReadingKey, Definition] = {}
    for entry in run.entries:
        for m in entry.measurements:
            readings.setdefault(ReadingKey(m.signature, m.at), m.definition)
    return _named(list(readings), {key.signature: definition for key, definition in readings.items()})


def query(run: Run | Path | str, sql: str) -> pa.Table:
    """What a SELECT over a run gives, as an Arrow table (`.to_pandas()` makes a frame of it).

        rushes.query("run", "select path from clips where blur_score < 20 and badge = 'pass'")

    Rows have no order but that of `order by`. Raises `InputError` for SQL that is not one SELECT or that DuckDB
    refuses, `MissingDependency` without the extra `query`.
    """
    with _answer(opened_run(run), sql) as answer:
        return _arrow(answer, "to_arrow_table", "fetch_arrow_table")()


def scan(run: Run | Path | str, *, columns: Sequence[str] | None = None, where: str | None = None) -> Iterator[Any]:
    """The view `clips` as Arrow record batches in input order, some thousand rows at a time.

    `columns` picks some of it, `where` is a condition in SQL (`"blur_score < 20"`). What is not asked for is not read.
    """
    opened = opened_run(run)
    with _answer(opened, clips_sql(opened, columns, where)) as answer:
        yield from _arrow(answer, "to_arrow_reader", "fetch_arrow_reader")(_BATCH)


def clips_sql(run: Run, columns: Sequence[str] | None, where: str | None) -> str:
    """A SELECT over `clips` in input order; `InputError` for a column that the run does not have."""
    known = [*CLIP_COLUMNS, *(column.name for column in columns_of(run))]
    for name in columns or ():
        if name not in known:
            raise InputError(f"{run.place}: no column {name}; there are {', '.join(known)}")
    chosen = ", ".join(map(_quoted, columns or known))
    condition = f"where ({where})" if where else ""
    return f"select {chosen} from clips {condition} order by number"  # known columns  # nosec B608


def signatures_in(run: Run, sql: str) -> dict[str, str]:
    """The columns that a query names, or all where it has a star, with the signature of each."""
    words = set(re.findall(r"\w+", sql.lower()))
    every = re.search(r"(\bselect|,|\.)\s*\*|^\s*from\b", sql, re.IGNORECASE)
    return {c.name: c.signature for c in columns_of(run) if every or c.name in words}


@contextmanager
def _answer(run: Run, sql: str) -> Iterator[Any]:
    """DuckDB's answer, while its connection is open; its errors in one line."""
    duckdb = optional_package("duckdb", "queries need DuckDB: pip install 'rushes[query]'")
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise InputError(f"{run.place}: {_line(error)}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InputError(f"{run.place}: expected one SELECT; got {_shown(sql)}")
    with duckdb.connect(":memory:") as connection:
        _attach(connection, run, long="measurements" in sql.lower())
        for setting in _SETTINGS:
            connection.execute(setting)
        try:
            yield connection.sql(sql)
        except duckdb.Error as error:
            raise InputError(f"{run.place}: {_line(error)}") from None


def _arrow(answer: Any, name: str, before: str) -> Any:
    """A method of DuckDB by its name, or the one it had before version 2."""
    return getattr(answer, name, None) or getattr(answer, before)


def _attach(connection: Any, run: Run, *, long: bool) -> None:
    """Make the views; `measurements` has a part per reading, and takes longer to make than a filter to answer."""
    source = _source(run)
    connection.register("stored", source)
    columns, has = columns_of(run), set(source.schema.names)
    wide = [*CLIP_COLUMNS, *(f"{_quoted(c.key.column('value'))} as {_quoted(c.name)}" for c in columns)]
    connection.execute(f"create view clips as select {', '.join(wide)} from stored")  # quoted names  # nosec B608
    if long:
        every = " union all ".join(_long(column, has) for column in columns) or _LONG_EMPTY
        connection.execute(f"create view measurements as {every}")


def _source(run: Run) -> Any:
    """The run's rows as something DuckDB reads columns of: the shards, or a table of a run that is in memory."""
    if run.shards is not None:
        return run.shards.dataset()
    optional_package("pyarrow", "queries need pyarrow: pip install 'rushes[query]'")
    columns = Columns()
    for number, entry in enumerate(run.entries):
        columns.add(pack(entry).line, number)
    return columns.table([(0, 0)] * columns.rows)


_LONG_EMPTY = (
    "select 0 as number, '' as subject, '' as badge, '' as name, 0.0 as value, 0 as count, '' as note, 0.0 as low, "
    "0.0 as high, 0.0 as level, '' as method, '' as signature, '' as place where false"
)


def _long(column: Column, has: set[str]) -> str:
    """The rows of `measurements` of one reading."""
    key = column.key
    ends = {part: _quoted(key.column(part)) if key.column(part) in has else "null" for part in ("low", "high", "level")}
    method = _quoted(key.column("method")) if key.column("method") in has else "null"
    value, count = _quoted(key.column("value")), _quoted(key.column("count"))
    return (
        f"select number, id as subject, badge, {_text(key.name)} as name, {value} as value, "  # quoted  # nosec B608
        f"{count} as count, coalesce({_quoted(key.column('note'))}, '') as note, {ends['low']}::double as low, "
        f"{ends['high']}::double as high, {ends['level']}::double as level, {method}::varchar as method, "
        f"{_text(key.signature)} as signature, {_text(canonical_json(dict(key.at)))} as place "
        f"from stored where {count} is not null"
    )


def _named(readings: Sequence[ReadingKey], definitions: Mapping[str, Definition]) -> list[Column]:
    """A name for each reading: the metric's, and what tells it from its namesakes."""
    by_name: dict[str, list[ReadingKey]] = {}
    for key in readings:
        by_name.setdefault(key.name, []).append(key)
    used = set(CLIP_COLUMNS)
    names: dict[ReadingKey, str] = {}
    for name, keys in by_name.items():
        facts = [_facts(key, definitions[key.signature]) for key in keys]
        differing = sorted({k for fact in facts for k in fact if len({other.get(k) for other in facts}) > 1})
        for key, fact in zip(keys, facts, strict=True):
            settings = [f"{k}_{fact[k]}" for k in differing if k in fact]
            parts = [name] if key is keys[0] else [name, *settings]
            names[key] = _free(re.sub(r"\W+", "_", "_".join(parts)).lower(), used)
    return [Column(names[key], key, definitions[key.signature]) for key in readings]


def _facts(key: ReadingKey, definition: Definition) -> dict[str, str]:
    return dict(definition.params) | {"v": str(definition.version)} | dict(key.at)


def _free(name: str, used: set[str]) -> str:
    candidate, number = name, 1
    while candidate in used:
        number += 1
        candidate = f"{name}_{number}"
    used.add(candidate)
    return candidate


def _quoted(name: str) -> str:
    """A name in SQL; what is a view's column already is left plain by being the same."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _line(error: BaseException) -> str:
    """The first line of DuckDB's message, with the hint that may stand in it."""
    return " ".join(str(error).split("\n\n")[0].split())


def _shown(sql: str) -> str:
    return json.dumps(sql.strip()[:60], ensure_ascii=False) if sql.strip() else "nothing"
