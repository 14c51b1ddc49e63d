"""`rushes query` and `rushes export`: ask a run in SQL, or get it as one table or as plain lines of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rushes.core.table import NUMBER, TEXT, Column
from rushes.core.words.number_text import number_text
from rushes.present.terminal.console import print_json, print_words, say

if TYPE_CHECKING:
    import pyarrow as pa

    from rushes.storage.runs import Run

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run; folder, s3:// or gs://.")]
_ROWS_AT_ONCE = 4096
_SHOWN = 50
"""Rows of the table on the terminal; --csv, --json and -o give all of them."""


def query(
    run: RunArgument,
    sql: Annotated[
        str | None,
        typer.Argument(metavar="SQL", help="A SELECT over clips (a row per clip) or measurements (a row per number)."),
    ] = None,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns of clips and their signatures.")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="Print only the column path, one line per file.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only: a list of rows.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Parquet; needs -o.")] = False,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="FILE", help="Write it here.")] = None,
) -> None:
    """Query a run with SQL (read-only).

    Example: rushes query run "select path from clips where review_signal = 'pass'" --paths -o keep.txt
    """
    from rushes.storage.query.columns import CLIP_COLUMNS, columns_of
    from rushes.storage.query.sql import ask
    from rushes.storage.runs import read_run

    if sum((paths, csv, as_json, parquet)) > 1:
        raise typer.BadParameter("--paths, --csv, --json and --parquet: give one of them", param_hint="--csv")
    if parquet and out is None:
        raise typer.BadParameter("--parquet writes a file; give -o FILE too", param_hint="--parquet")
    opened = read_run(run)
    if columns or sql is None:
        rows = [(column.name, column.definition.unit, column.signature) for column in columns_of(opened)]
        if as_json:
            print_json([dict(zip(("column", "unit", "signature"), row, strict=True)) for row in rows])
        else:
            fixed = [(name, "", "") for name in CLIP_COLUMNS]
            print_words(f"clips of {opened.place}", ("column", "unit", "signature"), [*fixed, *rows])
        return
    answer = ask(opened, sql)
    found = answer.table
    if parquet:
        _write_parquet(found, str(out), answer.signatures)
    elif paths or csv or as_json or out is not None:
        _write(_text(opened, found, paths=paths, as_json=as_json), out)
    else:
        _show(found)
    if out is not None:
        say(f"{found.num_rows:,} rows in {out}")
    for name, signature in {} if paths else answer.signatures.items():
        say(f"  {name}: {signature}")


def export(
    run: RunArgument,
    out: Annotated[
        str,
        typer.Option(
            "-o", "--out", metavar="FILE|FOLDER", help="A file .parquet, .csv, .xlsx or .jsonl; or an empty folder."
        ),
    ],
    series: Annotated[
        bool, typer.Option("--series", help="Also the per-frame series, a file per clip; into a folder.")
    ] = False,
) -> None:
    """Write every number of a run into one table: a row per clip, a column per metric.

    Signatures are in the Parquet file, in a second sheet of the .xlsx, or beside the others in FILE.signatures.csv.
    A folder gets subjects.jsonl and measurements.jsonl, one line per clip and per number.

    Example: rushes export runs/first -o numbers.parquet
    """
    from rushes.storage.query.one_file import export_file, is_one_file
    from rushes.storage.runs.export import export_run

    if not is_one_file(out):
        print(export_run(run, out, series=series))
        return
    if series:
        raise typer.BadParameter("the series go into a folder; give -o FOLDER", param_hint="--series")
    for file in export_file(run, out):
        print(file)


def _text(run: Run, found: pa.Table, *, paths: bool, as_json: bool) -> Iterator[str]:
    """The answer in parts: of a large one, some thousand rows are held at a time."""
    if paths:
        yield from (f"{path}\n" for path in _paths(run, found))
    elif as_json:
        yield from _json_parts(found)
    else:
        yield from _csv_parts(found)


def _json_parts(found: pa.Table) -> Iterator[str]:
    from rushes.core.canonical import canonical_json

    joint = "["
    for batch in found.to_batches(_ROWS_AT_ONCE):
        if batch.num_rows:
            yield joint + canonical_json(_jsonable(batch.to_pylist()))[1:-1]
            joint = ","
    yield "]\n" if joint == "," else "[]\n"


def _csv_parts(found: pa.Table) -> Iterator[str]:
    import csv
    import io

    def lines(rows: Iterable[Sequence[str]]) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        return out.getvalue()

    yield lines([found.column_names])
    for batch in found.to_batches(_ROWS_AT_ONCE):
        columns = ([_cell(value) for value in column.to_pylist()] for column in batch.columns)
        yield lines(zip(*columns, strict=True))


def _paths(run: Run, found: pa.Table) -> list[str]:
    """Where the clips lie now, as stored or beside the run where they moved with it."""
    from rushes.core.errors import InputError
    from rushes.storage.runs.relocation import relocate

    if "path" not in found.column_names:
        raise InputError("--paths lists the column path; select it: select path from clips where …")
    stored = [str(path) for path in found.column("path").to_pylist() if path is not None]
    return [str(relocate(path, beside=run.path) or path) for path in stored]


def _jsonable(value: object) -> object:
    """Plain data; what JSON has no word for (a date, bytes, infinity) as text."""
    import math

    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _cell(value: object) -> str:
    return "" if value is None else "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _write(parts: Iterable[str], out: str | None) -> None:
    from rushes.core.machine.files import replacing
    from rushes.storage.remote.transfer import upload_on_exit

    if out is None:
        for part in parts:
            print(part, end="")
        return
    with upload_on_exit(out) as target, replacing(target) as file:
        file.writelines(parts)


def _write_parquet(found: pa.Table, out: str, signatures: dict[str, str]) -> None:
    """A table that says under which definition each of its columns was measured."""
    import pyarrow.parquet as pq

    from rushes.core.canonical import canonical_json
    from rushes.core.machine.files import replacing_path
    from rushes.storage.remote.transfer import upload_on_exit

    told = found.replace_schema_metadata({"rushes.signatures": canonical_json(signatures)})
    with upload_on_exit(out) as target, replacing_path(target, target.name + ".tmp") as part:
        pq.write_table(told, part, compression="zstd")


def _shown(value: object) -> str:
    """A cell of the table on the terminal: a fraction has four significant digits, as everywhere people read one."""
    import math

    if value is None:
        return "–"
    if isinstance(value, list):
        return "; ".join(map(_shown, value))
    return number_text(value) if isinstance(value, float) and math.isfinite(value) else _cell(value)


def _show(found: pa.Table) -> None:
    rows = [[_shown(value) for value in row.values()] for row in found.slice(0, _SHOWN).to_pylist()]
    columns = [Column(field.name, NUMBER if str(field.type) in ("double", "int64") else TEXT) for field in found.schema]
    print_words("", columns, rows)
    if found.num_rows > _SHOWN:
        print(f"… and {found.num_rows - _SHOWN:,} more rows; --csv, --json or -o give all")
