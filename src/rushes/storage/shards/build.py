"""Making one shard out of finished entries: the work of any process that sees the run's folder.

The order of the rows is given, and rows say nothing of who measured them: a shard has the same bytes whoever makes it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from rushes.core.errors import RunError
from rushes.core.machine.files import replacing, replacing_bytes
from rushes.core.machine.provenance import file_digest
from rushes.storage.runs.disk import disk_errors
from rushes.storage.shards.index import FOLDER, Shard, write_marker
from rushes.storage.shards.spool import FOLDER as SPOOL
from rushes.storage.shards.spool import Span
from rushes.storage.shards.table import Columns

if TYPE_CHECKING:
    import pyarrow as pa

GROUP = 1000
"""Clips in a row group: what is read to get one of them."""
_OPEN = 128
_WORDS = ("kind", "badge", "note", "method", "reasons", "reason_about", "reason_kind")
"""Columns in which few texts come again and again."""


@dataclass(frozen=True, slots=True)
class Place:
    """A clip in a shard that gave up its number: the table's name below `spool`, and the row."""

    table: str
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What a shard is made of: a file in the spool's folder, so that it need not travel."""

    first: int
    rows: tuple[Span | Place, ...]
    definitions: Mapping[str, object]

    def write(self, target: Path) -> None:
        rows = [
            [row.table, row.row] if isinstance(row, Place) else [row.spool, row.start, row.line, row.series]
            for row in self.rows
        ]
        with replacing(target) as out:
            json.dump({"first": self.first, "rows": rows, "definitions": self.definitions}, out)

    @classmethod
    def read(cls, path: Path) -> Recipe:
        data = json.loads(path.read_bytes())
        rows = tuple(Place(*row) if len(row) == 2 else Span(*row) for row in data["rows"])
        return cls(first=data["first"], rows=rows, definitions=data["definitions"])


@dataclass(frozen=True, slots=True)
class ShardJob:
    """One shard to make; travels to a worker process."""

    folder: str
    number: int

    @property
    def recipe(self) -> Path:
        """The file that says of what; it is there once every clip of the shard is finished."""
        return Path(self.folder) / SPOOL / f"{self.number:05d}.recipe"


def build_shard(job: ShardJob) -> Shard | None:
    """Write a shard's table, its series and its marker, in this order.

    None where it cannot be made from here or not yet: the driver makes it at the end.
    """
    try:
        recipe = Recipe.read(job.recipe)
    except FileNotFoundError:
        return None
    folder = Path(job.folder)
    columns, series = Columns(), []
    with disk_errors(folder):
        target, place = folder / FOLDER / f"{job.number:05d}.series", 0
        with replacing_bytes(target, shared=True, synced=True) as out:
            for position, (line, packed) in enumerate(_contents(folder, recipe.rows)):
                columns.add(line, recipe.first + position)
                series.append((place, out.write(packed or b"")))
                place += series[-1][1]
        if not place:
            target.unlink(missing_ok=True)
        table = folder / FOLDER / f"{job.number:05d}.parquet"
        _write_table(columns.table(series), table)
        ids = columns.column("id")
        shard = Shard(
            number=job.number,
            first=recipe.first,
            rows=columns.rows,
            measurements=columns.measurements,
            badges=Counter(badge or "" for badge in columns.column("badge")),
            low=min(ids),
            high=max(ids),
            bytes=table.stat().st_size,
            sha256=file_digest(table),
            series_bytes=place,
            series_sha256=file_digest(target) if place else "",
            readings=tuple(columns.readings),
            intervals=tuple(columns.intervals),
        )
        write_marker(folder, shard, {key: recipe.definitions[key] for key in columns.signatures})
        _sync_folder(folder / FOLDER)
    return shard


def _write_table(table: pa.Table, target: Path) -> None:
    import pyarrow.parquet as pq

    texts = [name for name in table.column_names if name.partition(":")[0] in _WORDS]
    with replacing_bytes(target, shared=True, synced=True) as out:
        pq.write_table(
            table,
            out,
            row_group_size=GROUP,
            compression="zstd",
            use_dictionary=texts,
            write_statistics=[name for name in table.column_names if name not in ("line", "digest", "facts")],
            store_schema=False,
            write_page_checksum=True,
        )


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _contents(folder: Path, rows: Sequence[Span | Place]) -> Iterator[tuple[bytes, bytes | None]]:
    """Line and series of each row, whichever file it lies in."""
    below = str(folder / SPOOL)
    with _OpenFiles() as opened:
        for row in rows:
            if isinstance(row, Place):
                yield opened.row(f"{below}/{row.table}", row.row)
                continue
            data = opened.read(f"{below}/{row.spool}", row.start, row.line + row.series)
            if len(data) != row.line + row.series:
                raise RunError(f"{below}/{row.spool}: is truncated; run the same command again")
            yield data[: row.line], data[row.line :] or None


class _OpenFiles:
    """Opens each file once, and closes the oldest: a cluster has more writers than a process may hold files."""

    def __init__(self) -> None:
        self._files: dict[str, IO[bytes]] = {}
        self._table: tuple[str, list[list[Any]]] = ("", [])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.close()

    def read(self, path: str, start: int, size: int) -> bytes:
        if path not in self._files:
            if len(self._files) >= _OPEN:
                self._files.pop(next(iter(self._files))).close()
            self._files[path] = open(path, "rb")
        return os.pread(self._files[path].fileno(), size, start)

    def row(self, table: str, row: int) -> tuple[bytes, bytes | None]:
        """Line and series of one row of a shard, whose table is given without its ending."""
        import pyarrow.parquet as pq

        if self._table[0] != table:
            columns = pq.read_table(f"{table}.parquet", columns=["line", "series_start", "series_bytes"]).columns
            self._table = table, [column.to_pylist() for column in columns]
        line, start, size = (column[row] for column in self._table[1])
        return line, self.read(f"{table}.series", start, size) if size else None
