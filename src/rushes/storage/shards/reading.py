"""A run in shards, read in parts: subjects and numbers come when they are asked for, and few are held.

`LazyItems` and `LazyMeasurements` stand where a small run has a tuple and a dict. Going through them reads one row
group after the other; asking for one clip reads the row group it lies in. `ShardPlace` is where the files lie: a folder
here, an address, or both while a run is under way.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core import Definition, Measurement
from rushes.core.errors import RunError
from rushes.core.machine.provenance import file_digest
from rushes.storage.lazy import Item, LazySequence
from rushes.storage.remote.address import joined
from rushes.storage.remote.store import filesystem, get_bytes, object_path
from rushes.storage.runs.packing import entry_of, line_digest
from rushes.storage.runs.subjects import Entry
from rushes.storage.shards.build import GROUP
from rushes.storage.shards.index import Index, Shard
from rushes.storage.shards.spool import Span, read_spools
from rushes.storage.shards.table import Columns, ReadingKey, schema

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.fs as fs

_GROUPS = 2
"""Row groups held: some 20 MB of lines."""
_ID_LISTS = 32


@dataclass(frozen=True, slots=True)
class ShardPlace:
    """A folder of this machine; with an address, its files go to that store as they are finished.

    What is not here is there. It is read by range, and no copy is made.
    """

    folder: Path
    url: str = ""

    def __str__(self) -> str:
        return self.url or str(self.folder)

    def _is_there(self, name: str) -> bool:
        return bool(self.url) and not (self.folder / name).exists()

    def read(self, name: str) -> bytes:
        return get_bytes(joined(self.url, name)) if self._is_there(name) else (self.folder / name).read_bytes()

    def read_range(self, name: str, start: int, size: int) -> bytes:
        if self._is_there(name):
            return get_bytes(joined(self.url, name), start=start, end=start + size)
        try:
            with open(self.folder / name, "rb") as file:
                return os.pread(file.fileno(), size, start)
        except OSError as error:
            raise RunError(f"{self.folder / name}: cannot be read ({error.strerror or error})") from None

    def arrow(self, name: str | None = None) -> tuple[fs.FileSystem, str]:
        """Arrow's file system, and the folder's path in it, for this file.

        For all files it is the store's where there is one: what a reader sees of a run under way is what was pushed.
        """
        import pyarrow.fs as fs

        if self.url and (name is None or self._is_there(name)):
            return fs.PyFileSystem(fs.FSSpecHandler(filesystem(self.url))), object_path(self.url)
        return fs.LocalFileSystem(), str(self.folder.absolute())


CHECKED_BYTES = 256 * 2**20
"""Tables of a run up to this size are compared with their digests when they are first read; of a larger one, the pages
that are read have checksums of their own, and `rushes verify` reads the rest."""


def _opened(pq: Any, system: fs.FileSystem, path: str, coded: Sequence[str]) -> Any:
    return pq.ParquetFile(system.open_input_file(path), page_checksum_verification=True, read_dictionary=list(coded))


@lru_cache(maxsize=4096)
def _require_digest(path: str, modified: int, wanted: str) -> None:
    """`RunError` where a file is not the one that was written; a file that stays as it is, is read once."""
    if file_digest(path) != wanted:
        raise RunError(f"{path}: changed after it was written; the same command measures its clips again")


@contextmanager
def open_table(place: ShardPlace, name: str, *, coded: Sequence[str] = ()) -> Iterator[Any]:
    """A shard's table, of which nothing is read yet but its foot; `RunError` where it cannot be.

    Columns that are `coded` are read as dictionaries of texts.
    """
    import pyarrow.parquet as pq

    system, base = place.arrow(name)
    with table_errors(place, name), _opened(pq, system, f"{base}/{name}", coded) as table:
        yield table


@contextmanager
def table_errors(place: ShardPlace, name: str = "shards") -> Iterator[None]:
    """Arrow's errors, which are these two, in one line about a shard that cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{place}/{name}: cannot be read ({why}); the same command measures its clips again") from None


class Shards:
    """The files of a run in shards. `loose` are finished clips that are in no shard yet, by id."""

    def __init__(
        self, place: ShardPlace, index: Index, loose: Mapping[str, Span] | None = None, *, checked: bool = False
    ) -> None:
        self.place, self.index, self.loose = place, index, loose or {}
        self.checked = checked and sum(shard.bytes for shard in index.shards) <= CHECKED_BYTES
        self.definitions = {key: Definition.from_dict(fact) for key, fact in index.definitions.items()}
        # Of functions, not of methods: nothing of this object holds it, so that it goes when it is let go.
        self._group = lru_cache(maxsize=_GROUPS)(partial(_read_group, place, self.checked))
        self._ids = lru_cache(maxsize=_ID_LISTS)(partial(_read_ids, place, self.checked))

    def __len__(self) -> int:
        return self.index.rows + len(self.loose)

    def require_intact(self, shard: Shard) -> None:
        """`RunError` where a shard's table is not the one that was written, if this run's tables are checked."""
        _require_intact(self.place, self.checked, shard)

    def lines(self) -> Iterator[bytes]:
        """Every clip's line in order, those that are in no shard last."""
        for shard in self.index.shards:
            for group in range(-(-shard.rows // GROUP)):
                yield from self._group(shard, group)
        for span in self.loose.values():
            yield self._loose(span)[0]

    def line(self, position: int) -> bytes:
        """The line of the clip with this number; `IndexError` where there is none."""
        if not 0 <= position < len(self):
            raise IndexError(f"a run of {len(self):,} clips has no number {position:,}")
        for shard in self.index.shards:
            if position < shard.rows:
                return bytes(self._group(shard, position // GROUP)[position % GROUP])
            position -= shard.rows
        return self._loose(list(self.loose.values())[position])[0]

    def find(self, subject_id: str) -> tuple[Shard, int] | Span | None:
        """Where a clip lies: its shard and row, or its span; None where the run has none of this id."""
        if subject_id in self.loose:
            return self.loose[subject_id]
        for shard in self.index.shards:
            if shard.low <= subject_id <= shard.high:
                row = self._ids(shard).get(subject_id)
                if row is not None:
                    return shard, row
        return None

    def line_of(self, subject_id: str) -> bytes:
        """The line of a clip by id; `KeyError` where there is none."""
        found = self.find(subject_id)
        if found is None:
            raise KeyError(subject_id)
        if isinstance(found, Span):
            return self._loose(found)[0]
        shard, row = found
        return bytes(self._group(shard, row // GROUP)[row % GROUP])

    def unpacked(self, subject_id: str) -> Path | None:
        """A file with a clip's series, in a folder that goes when this does; None where none was stored."""
        found, packed = self.find(subject_id), None
        if isinstance(found, Span):
            packed = self._loose(found)[1]
        elif found is not None:
            shard, row = found
            table = _columns(self.place, self.checked, shard, row // GROUP, ["series_start", "series_bytes"])
            start, size = (column[row % GROUP].as_py() for column in table.columns)
            packed = self.place.read_range(shard.series_name, start, size) if size else None
        if packed is None:
            return None
        target = self._scratch / f"{subject_id}.npz"
        target.write_bytes(packed)
        return target

    @cached_property
    def _scratch(self) -> Path:
        folder = tempfile.mkdtemp(prefix="rushes-series-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @property
    def entries(self) -> Sequence[Entry]:
        """The clips with their numbers, in order."""
        return LazyItems(self, partial(entry_of, definitions=self.definitions))

    @property
    def numbers(self) -> int:
        """How many numbers there are."""
        return self.index.measurements + sum(
            len(json.loads(self._loose(span)[0])["measurements"]) for span in self.loose.values()
        )

    def ids(self, shard: Shard) -> list[str]:
        """The ids of a shard's clips in order."""
        return list(self._ids(shard))

    def paths(self) -> Iterator[tuple[str, str]]:
        """Id and path of every clip that is in a shard."""
        for shard in self.index.shards:
            ids, paths = (
                column.to_pylist() for column in _columns(self.place, self.checked, shard, None, ["id", "path"]).columns
            )
            yield from zip(ids, paths, strict=True)

    def digests(self) -> Iterator[bytes]:
        """The digest of every clip's line in order."""
        for shard in self.index.shards:
            yield from _columns(self.place, self.checked, shard, None, ["digest"]).column(0).to_pylist()
        for span in self.loose.values():
            yield line_digest(self._loose(span)[0])

    @property
    def readings(self) -> list[ReadingKey]:
        return list(dict.fromkeys((*self.index.readings, *self._loose_columns().readings)))

    def dataset(self) -> ds.Dataset:
        """The tables as one Arrow data set, of which only the columns and row groups that are needed are read."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        loose = self._loose_columns()
        wanted = schema(self.readings, dict.fromkeys((*self.index.intervals, *loose.intervals)))
        for shard in self.index.shards:
            self.require_intact(shard)
        system, base = self.place.arrow()
        how = ds.ParquetFileFormat(
            default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
        )
        with table_errors(self.place):
            files = [f"{base}/{shard.name}" for shard in self.index.shards]
            whole = ds.dataset(files, schema=wanted, format=how, filesystem=system) if files else None
        if not loose.rows:
            return whole if whole is not None else ds.dataset(wanted.empty_table())
        table = loose.table([(0, 0)] * loose.rows)
        missing = [name for name in wanted.names if name not in table.column_names]
        for name in missing:
            table = table.append_column(name, pa.nulls(loose.rows, wanted.field(name).type))
        rest = ds.dataset(table.select(wanted.names))
        return rest if whole is None else ds.dataset([whole, rest])

    def _loose_columns(self) -> Columns:
        columns = Columns()
        for number, span in enumerate(self.loose.values(), self.index.rows):
            columns.add(self._loose(span)[0], number)
        return columns

    def _loose(self, span: Span) -> tuple[bytes, bytes | None]:
        return span.read(self.place.folder)


def read_loose(folder: Path, inside: Shards) -> tuple[dict[str, Span], dict[str, Any]]:
    """The clips that are finished and in none of these shards, by id; and the definitions that they bring."""
    loose, definitions = {}, {}
    for record in read_spools(folder):
        if isinstance(record, dict):
            definitions[str(record["signature"])] = record
        # A clip is measured again only after its shard was laid aside: what is in a shard is the latest.
        elif inside.find(name := str(json.loads(record[1])["subject"]["id"])) is None:
            loose[name] = record[0]
    return loose, definitions


def _require_intact(place: ShardPlace, checked: bool, shard: Shard) -> None:
    if checked:
        file = place.folder / shard.name
        with suppress(FileNotFoundError):  # told when it is opened
            _require_digest(str(file), file.stat().st_mtime_ns, shard.sha256)


def _read_group(place: ShardPlace, checked: bool, shard: Shard, group: int) -> list[bytes]:
    found: list[bytes] = _columns(place, checked, shard, group, ["line"]).column(0).to_pylist()
    return found


def _read_ids(place: ShardPlace, checked: bool, shard: Shard) -> dict[str, int]:
    names = _columns(place, checked, shard, None, ["id"]).column(0).to_pylist()
    return {name: row for row, name in enumerate(names)}


def _columns(place: ShardPlace, checked: bool, shard: Shard, group: int | None, names: list[str]) -> pa.Table:
    """Columns of a shard, of one row group or of all."""
    _require_intact(place, checked, shard)
    with open_table(place, shard.name) as table:
        return table.read(columns=names) if group is None else table.read_row_group(group, columns=names)


class LazyItems(LazySequence[Item]):
    """A sequence over the lines of a run; `make` makes an item of a line."""

    def __init__(self, shards: Shards, make: Callable[[bytes], Item]) -> None:
        self._shards, self._make = shards, make

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, self._shards.lines())

    def _at(self, position: int) -> Item:
        return self._make(self._shards.line(position))


class LazyMeasurements(Mapping[str, tuple[Measurement, ...]]):
    """The numbers of each subject by id."""

    def __init__(self, shards: Shards) -> None:
        self.shards = self._shards = shards
        self._last: tuple[str, tuple[Measurement, ...]] = ("", ())

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Iterator[str]:
        index = self._shards.index
        return chain(chain.from_iterable(map(self._shards.ids, index.shards)), self._shards.loose)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._shards.find(key) is not None

    def __getitem__(self, key: str) -> tuple[Measurement, ...]:
        if self._last[0] != key:
            self._last = key, entry_of(self._shards.line_of(key), self._shards.definitions).measurements
        return self._last[1]
