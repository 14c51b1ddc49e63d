"""SQL over a run: DuckDB on the run's own files, read-only, with a column per metric.

Two views. `clips` has one row per clip: number, id, path, kind, sha256, review_signal, reasons (a list), facts (JSON
text), and a column per reading with its value. `measurements` has one row per number: number, subject, review_signal,
name, value, count, note, low, high, level, method (of the interval), signature, place (JSON text). A true/false value
is 1 or 0.

`storage/query/columns.py` says what a reading's column is called, and which names a question may use for it.

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

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.memory import address_limit
from rushes.core.registry import optional_package
from rushes.core.words.suggest import did_you_mean
from rushes.storage.query.columns import CLIP_COLUMNS, OLD_NAMES, Column, Extra, columns_of, extras, quoted, spelt_out
from rushes.storage.runs.packing import pack
from rushes.storage.runs.reader import opened_run
from rushes.storage.runs.run import Run
from rushes.storage.shards.table import Columns

if TYPE_CHECKING:
    import pyarrow as pa

_SETTINGS = (
    "set python_enable_replacements = false",  # no variable of this program is a table
    "set autoload_known_extensions = false",
    "set autoinstall_known_extensions = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
_BATCH = 8192
_ADDRESSES = 2_000_000_000
"""The least `ulimit -v` for a question: libraries and what their allocators reserve take three quarters of it."""
_SHARE = 4
"""Of the addresses allowed, this part is DuckDB's for rows."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question gave, and the signature of every column that it names."""

    table: pa.Table
    signatures: dict[str, str]


def query(run: Run | Path | str, sql: str) -> pa.Table:
    """Query a run with SQL (read-only).

        rushes.query("runs/mine", "select path from clips where blur_score < 20 and review_signal = 'pass'")

    Args:
        run: a run, read or by directory.
        sql: one SELECT over `clips`, a row per clip, or `measurements`, a row per number. A metric may be typed by any
            name that `rushes metrics` knows. A metric without a number in this run is null. A name that says nothing
            alone is spelt out in the answer: `select pck` gives `pck_k_20_norm_torso_diameter`.

    Returns:
        An Arrow table; `.to_pandas()` makes a data frame of it. Rows have no order but that of `order by`.

    Raises:
        InputError: this is not one SELECT, DuckDB refuses it, or a name means several columns.
        MissingDependency: DuckDB or pyarrow is not installed; the message has the command.
    """
    return ask(run, sql).table


def ask(run: Run | Path | str, sql: str) -> Answer:
    """`query`, with the signatures of the columns that it names, or of all where it has a star."""
    opened = opened_run(run)
    with _answer(opened, sql) as (answer, asked, added):
        found = _arrow(answer, "to_arrow_table", "fetch_arrow_table")()
    _require_labels(opened, found, sql)
    extra = {one.name: one.signature for one in added if one.signature}
    return Answer(found, signatures_in(opened, asked) | extra)


def _require_labels(run: Run, found: pa.Table, sql: str) -> None:
    """Rows of `measurements` that name a metric without what belongs to its name: its signature has to stand there."""
    if "measurements" not in sql.lower() or "signature" in found.column_names:
        return
    partial = {c.definition.name: c.definition.named_by for c in columns_of(run) if c.definition.named_by}
    texts = (column for column in found.columns if str(column.type) in ("string", "large_string"))
    for name in sorted({text for column in texts for text in column.unique().to_pylist()} & partial.keys()):
        keys = [key for key in partial[name] if any(c.definition.param(key) for c in columns_of(run))]
        raise InputError(f"{name} says nothing without its {' and '.join(keys)}: select signature as well")


def scan(run: Run | Path | str, *, columns: Sequence[str] | None = None, where: str | None = None) -> Iterator[Any]:
    """The view `clips` as Arrow record batches in input order, some thousand rows at a time.

    `columns` picks some of it, `where` is a condition in SQL (`"blur_score < 20"`). What is not asked for is not read.
    """
    opened = opened_run(run)
    with _answer(opened, clips_sql(opened, columns, where)) as (answer, _, _):
        yield from _arrow(answer, "to_arrow_reader", "fetch_arrow_reader")(_BATCH)


def clips_sql(run: Run, columns: Sequence[str] | None, where: str | None) -> str:
    """A SELECT over `clips` in input order; `InputError` for a column that the run does not have."""
    every = columns_of(run)
    known = [*CLIP_COLUMNS, *(column.name for column in every)]
    for name in columns or ():
        if name not in known and not spelt_out(every, [name]) and not extras(run, every, [name]):
            raise InputError(f"{run.place}: no column {name}{did_you_mean(name, known)}")
    chosen = ", ".join(map(quoted, columns or known))
    condition = f"where ({where})" if where else ""
    return f"select {chosen} from clips {condition} order by number"  # known columns  # nosec B608


def signatures_in(run: Run, sql: str) -> dict[str, str]:
    """The columns that a query names, or all where it has a star, with the signature of each."""
    words = set(re.findall(r"\w+", sql.lower()))
    every = re.search(r"(\bselect|,|\.)\s*\*|^\s*from\b", sql, re.IGNORECASE)
    return {c.name: c.signature for c in columns_of(run) if every or c.name in words}


@contextmanager
def _answer(run: Run, sql: str) -> Iterator[tuple[Any, str, list[Extra]]]:
    """DuckDB's answer while its connection is open, the question as it was put, and the columns that it needed beside
    the run's own; errors in one line."""
    room = _require_addresses(run)
    duckdb = optional_package("duckdb", "queries need DuckDB", extra="query")
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise InputError(f"{run.place}: {_line(error)}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InputError(f"{run.place}: expected one SELECT; got {_shown(sql)}")
    columns = columns_of(run)
    names = _identifiers(duckdb, sql)
    asked = _rewritten(sql, names, spelt_out(columns, {name for _, _, name in names}))
    added: list[Extra] = []
    with duckdb.connect(":memory:", config=room | {"threads": 1}) as connection:
        _attach(connection, run, columns, long="measurements" in sql.lower())
        for setting in _SETTINGS:
            connection.execute(setting)
        try:
            try:
                answer = connection.sql(asked)
            except duckdb.BinderException:  # only then is the catalogue asked, which takes longer than most questions
                added = extras(run, columns, (name for _, _, name in names))
                if not added:
                    raise
                _make_clips(connection, columns, added)
                _make_long(connection, added)
                answer = connection.sql(asked)
            yield answer, asked, added
        except duckdb.Error as error:
            raise InputError(f"{run.place}: {_line(error)}") from None


def _require_addresses(run: Run) -> dict[str, str]:
    """DuckDB's setting under `ulimit -v`, where it and Arrow would otherwise end the process instead of saying so."""
    limit = address_limit()
    if limit is None:
        return {}
    if limit < _ADDRESSES:
        raise InputError(
            f"{run.place}: a query needs {_ADDRESSES / 1e9:.1f} GB of address space; "
            f"ulimit -v allows {limit / 1e9:.1f}; raise it with: ulimit -v unlimited"
        )
    return {"memory_limit": f"{limit // _SHARE}B"}


def _identifiers(duckdb: Any, sql: str) -> list[tuple[int, int, str]]:
    """Every name in a question: where it begins and ends, and what it is without quotes."""
    found = []
    for start, kind in duckdb.tokenize(sql):
        if kind == duckdb.token_type.identifier and (text := _NAME.match(sql, start)):
            found.append((start, text.end(), (text[1] or text[2] or "").replace('""', '"')))
    return found


_NAME = re.compile(r'"((?:[^"]|"")*)"|(\w+)')


def _rewritten(sql: str, names: Sequence[tuple[int, int, str]], meant: Mapping[str, str]) -> str:
    for start, end, name in reversed(names):
        sql = f"{sql[:start]}{quoted(meant[name])}{sql[end:]}" if name in meant else sql
    return sql


def _arrow(answer: Any, name: str, before: str) -> Any:
    """A method of DuckDB by its name, or the one it had before version 2."""
    return getattr(answer, name, None) or getattr(answer, before)


def _attach(connection: Any, run: Run, columns: Sequence[Column], *, long: bool) -> None:
    """Make the views; `measurements` has a part per reading, and takes longer to make than a filter to answer."""
    source = _source(run)
    connection.register("stored", source)
    _make_clips(connection, columns)
    if long:
        has = set(source.schema.names)
        every = " union all ".join(_long(column, has) for column in columns) or _LONG_EMPTY
        connection.execute(f"create view every_number as {every}")
        connection.execute("create view measurements as select * from every_number")


def _make_long(connection: Any, added: Sequence[Extra]) -> None:
    """`measurements` with the old names of its column of review signals that a question uses."""
    old = [one.name for one in added if one.name.lower() in OLD_NAMES]
    if old and connection.execute("select 1 from duckdb_views() where view_name = 'every_number'").fetchone():
        more = ", ".join(f"review_signal as {quoted(name)}" for name in old)
        view = f"select *, {more} from every_number"  # quoted names  # nosec B608
        connection.execute(f"create or replace view measurements as {view}")


def _make_clips(connection: Any, columns: Sequence[Column], added: Sequence[Extra] = ()) -> None:
    fixed = ("badge as review_signal" if name == "review_signal" else name for name in CLIP_COLUMNS)
    wide = [*fixed, *(f"{quoted(c.key.column('value'))} as {quoted(c.name)}" for c in columns)]
    view = f"select {', '.join(wide)} from stored"  # quoted names  # nosec B608
    if added:
        more = ", ".join(f"{one.expression} as {quoted(one.name)}" for one in added)
        view = f"select *, {more} from ({view})"  # quoted names  # nosec B608
    connection.execute(f"create or replace view clips as {view}")


def _source(run: Run) -> Any:
    """The run's rows as something DuckDB reads columns of: the shards, or a table of a run that is in memory."""
    if run.shards is not None:
        return run.shards.dataset()
    optional_package("pyarrow", "queries need pyarrow", extra="query")
    columns = Columns()
    for number, entry in enumerate(run.entries):
        columns.add(pack(entry).line, number)
    return columns.table([(0, 0)] * columns.rows)


_LONG_EMPTY = (
    "select 0 as number, '' as subject, '' as review_signal, '' as name, 0.0 as value, 0 as count, '' as note, "
    "0.0 as low, 0.0 as high, 0.0 as level, '' as method, '' as signature, '' as place where false"
)


def _long(column: Column, has: set[str]) -> str:
    """The rows of `measurements` of one reading."""
    key = column.key
    ends = {part: quoted(key.column(part)) if key.column(part) in has else "null" for part in ("low", "high", "level")}
    method = quoted(key.column("method")) if key.column("method") in has else "null"
    value, count = quoted(key.column("value")), quoted(key.column("count"))
    return (
        f"select number, id as subject, badge as review_signal, {_text(key.name)} as name, "  # quoted  # nosec B608
        f"{value} as value, "
        f"{count} as count, coalesce({quoted(key.column('note'))}, '') as note, {ends['low']}::double as low, "
        f"{ends['high']}::double as high, {ends['level']}::double as level, {method}::varchar as method, "
        f"{_text(key.signature)} as signature, {_text(canonical_json(dict(key.at)))} as place "
        f"from stored where {count} is not null"
    )


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _line(error: BaseException) -> str:
    """The first line of DuckDB's message, with the hint that may stand in it."""
    return " ".join(str(error).split("\n\n")[0].split())


def _shown(sql: str) -> str:
    return json.dumps(sql.strip()[:60], ensure_ascii=False) if sql.strip() else "nothing"
