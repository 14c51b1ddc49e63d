"""Where the files of a run in shards lie, and how parts of them are read: a folder here, or an address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core.errors import RunError
from rushes.storage.remote.address import joined
from rushes.storage.remote.store import filesystem, get_bytes, object_path

if TYPE_CHECKING:
    import pyarrow.fs as fs


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


@contextmanager
def open_table(place: ShardPlace, name: str) -> Iterator[Any]:
    """A shard's table, of which nothing is read yet but its foot; `RunError` where it cannot be."""
    import pyarrow.parquet as pq

    system, base = place.arrow(name)
    with table_errors(place, name), pq.ParquetFile(system.open_input_file(f"{base}/{name}")) as table:
        yield table


@contextmanager
def table_errors(place: ShardPlace, name: str = "shards") -> Iterator[None]:
    """Arrow's errors, which are these two, in one line about a shard that cannot be read."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{place}/{name}: cannot be read ({why}); the same command measures its clips again") from None
