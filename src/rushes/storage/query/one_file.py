"""A run as one table in one file: a row per clip, a column per metric under its plain name.

The columns are id, path, review_signal, severity and reasons, then the metrics as `columns_of` names them; `kind` comes
after id where the run holds several kinds (pairs, and the set that they make). A value that is missing is empty, in
JSON null. How each column was measured is in the file itself for Parquet (metadata `rushes.signatures`, as
`rushes query` writes it with --parquet) and for a spreadsheet (its second sheet), and for CSV and JSON lines in a file
beside it, `numbers.signatures.csv`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any

from rushes.core.canonical import canonical_json, canonical_line
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing, replacing_path
from rushes.core.reason import severity_of
from rushes.core.registry import optional_package
from rushes.storage.query.columns import Column, columns_of
from rushes.storage.query.spreadsheet import write_sheets
from rushes.storage.remote.transfer import upload_on_exit
from rushes.storage.runs.reader import opened_run
from rushes.storage.runs.run import Run
from rushes.storage.shards.table import ReadingKey

ENDINGS = (".parquet", ".csv", ".xlsx", ".jsonl")
_OTHERS = frozenset({".arrow", ".feather", ".json", ".ndjson", ".ods", ".pq", ".tsv", ".txt", ".xls"})
"""What people call tables too: nobody wants a folder of that name."""
_BATCH = 10_000


def is_one_file(target: Path | str) -> bool:
    """Whether a run goes into one file of this name; `InputError` for a table in a form that is not written."""
    ending = PurePosixPath(str(target)).suffix.lower()
    if Path(target).is_dir() or ending not in {*ENDINGS, *_OTHERS}:
        return False
    if ending in _OTHERS:
        raise InputError(f"{target}: expected a file that ends in {', '.join(ENDINGS)}, or a folder; got {ending}")
    return True


def export_file(run: Run | Path | str, target: Path | str) -> list[str]:
    """Write the table; return the files that were written, the table first.

    Raises `MissingDependency` for Parquet without pyarrow.
    """
    opened = opened_run(run)
    columns, heads = columns_of(opened), _heads(opened)
    rows = _rows(opened, columns, heads)
    ending = PurePosixPath(str(target)).suffix.lower()
    if ending == ".parquet":
        _parquet(rows, heads, columns, target)
        return [str(target)]
    if ending == ".xlsx":
        write_sheets(target, (*heads, *(column.name for column in columns)), rows, signature_rows(columns))
        return [str(target)]
    with upload_on_exit(target) as file, replacing(file) as out:
        if ending == ".jsonl":
            out.writelines(canonical_line(row) for row in rows)
        else:
            _csv(out, (*heads, *(column.name for column in columns)), (row.values() for row in rows))
    beside = signatures_beside(target)
    with upload_on_exit(beside) as file, replacing(file) as out:
        _csv(out, SIGNATURE_HEADS, signature_rows(columns))
    return [str(target), beside]


def csv_table(run: Run) -> str:
    """The table as CSV, without its signatures."""
    out = io.StringIO()
    columns, heads = columns_of(run), _heads(run)
    rows = _rows(run, columns, heads)
    _csv(out, (*heads, *(column.name for column in columns)), (row.values() for row in rows))
    return out.getvalue()


def _csv(out: IO[str], heads: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)


def signatures_beside(target: Path | str) -> str:
    """Where the signatures of a table go: numbers.signatures.csv beside numbers.csv."""
    return str(target).removesuffix(PurePosixPath(str(target)).suffix) + ".signatures.csv"


SIGNATURE_HEADS = ("column", "signature", "unit", "better", "about")


def signature_rows(columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """How each column was measured: its name, signature, unit and direction, and what it is about."""
    return [
        (column.name, column.signature, column.definition.unit, column.definition.better, _about(column))
        for column in columns
    ]


def _about(column: Column) -> str:
    return ", ".join(f"{key} {value}" for key, value in column.key.at)


def table_rows(run: Run) -> Iterator[dict[str, Any]]:
    """The rows of the table, a row per clip."""
    return _rows(run, columns_of(run), _heads(run))


def _heads(run: Run) -> list[str]:
    kinds = run.shards is None and len({subject.kind for subject in run.subjects}) > 1
    return ["id", *(["kind"] if kinds else []), "path", "review_signal", "severity", "reasons"]


def _rows(run: Run, columns: Sequence[Column], heads: Sequence[str]) -> Iterator[dict[str, Any]]:
    for entry in run.entries:
        subject = entry.subject
        values = {ReadingKey(m.signature, m.at): m.stored_value for m in entry.measurements}
        facts: dict[str, Any] = {"id": subject.id, "kind": subject.kind, "path": subject.path}
        facts |= {"review_signal": subject.badge, "severity": severity_of(subject.why) or None}
        facts["reasons"] = "; ".join(subject.reasons)
        yield {head: facts[head] for head in heads} | {column.name: values.get(column.key) for column in columns}


def _cell(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _parquet(
    rows: Iterator[Mapping[str, Any]], heads: Sequence[str], columns: Sequence[Column], target: Path | str
) -> None:
    needs = "a .parquet file needs pyarrow (.csv and .jsonl need no package)"
    arrow = optional_package("pyarrow", needs, extra="query")
    parquet = optional_package("pyarrow.parquet", needs, extra="query")
    flags = {column.name for column in columns if column.definition.unit == "true/false"}
    kinds = {column.name: arrow.bool_() if column.name in flags else arrow.float64() for column in columns}
    signatures = canonical_json({column.name: column.signature for column in columns})
    fields = [*((head, arrow.float64() if head == "severity" else arrow.string()) for head in heads), *kinds.items()]
    schema = arrow.schema(fields, metadata={"rushes.signatures": signatures})
    with (
        upload_on_exit(target) as file,
        replacing_path(file, file.name + ".tmp") as part,
        open(part, "wb") as out,
        parquet.ParquetWriter(out, schema, compression="zstd") as writer,
    ):
        while batch := list(islice(rows, _BATCH)):
            table = {name: [_number(row[name], name in kinds, name in flags) for row in batch] for name, _ in fields}
            writer.write_table(arrow.table(table, schema=schema))


def _number(value: Any, is_metric: bool, is_flag: bool) -> Any:
    return value if value is None or not is_metric else bool(value) if is_flag else float(value)
