"""Where the files of a run in shards lie, and how parts of them are read: a folder here, or an address."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushes.core.errors import RunError
from rushes.storage.remote.address import joined, parse_address
from rushes.storage.remote.store import filesystem, get_bytes, with_retries

if TYPE_CHECKING:
    import pyarrow.fs as fs


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """A folder of this machine."""

    folder: Path

    def __str__(self) -> str:
        return str(self.folder)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def read_range(self, name: str, start: int, size: int) -> bytes:
        try:
            with open(self.folder / name, "rb") as file:
                return os.pread(file.fileno(), size, start)
        except OSError as error:
            raise RunError(f"{self.folder / name}: cannot be read ({error.strerror or error})") from None

    def arrow(self) -> tuple[fs.FileSystem, str]:
        """Arrow's file system, and the folder's path in it."""
        import pyarrow.fs as fs

        return fs.LocalFileSystem(), str(self.folder.absolute())


@dataclass(frozen=True, slots=True)
class RemotePlace:
    """A folder in a store; files are read by range, and no copy is made."""

    url: str

    def __str__(self) -> str:
        return self.url

    def read(self, name: str) -> bytes:
        return get_bytes(joined(self.url, name))

    def read_range(self, name: str, start: int, size: int) -> bytes:
        url = joined(self.url, name)
        store, path = filesystem(url), "/".join(parse_address(url)[1:])
        return bytes(with_retries(url, lambda: store.cat_file(path, start=start, end=start + size)))

    def arrow(self) -> tuple[fs.FileSystem, str]:
        import pyarrow.fs as fs

        return fs.PyFileSystem(fs.FSSpecHandler(filesystem(self.url))), "/".join(parse_address(self.url)[1:])


@dataclass(frozen=True, slots=True)
class MixedPlace:
    """A folder of this machine whose files go to a store as they are finished: what is not here is there."""

    folder: Path
    url: str

    def __str__(self) -> str:
        return self.url

    def of(self, name: str) -> LocalPlace | RemotePlace:
        return LocalPlace(self.folder) if (self.folder / name).exists() else RemotePlace(self.url)

    def read(self, name: str) -> bytes:
        return self.of(name).read(name)

    def read_range(self, name: str, start: int, size: int) -> bytes:
        return self.of(name).read_range(name, start, size)

    def arrow(self) -> tuple[fs.FileSystem, str]:
        """The store's: what a reader sees of a run under way is what was pushed."""
        return RemotePlace(self.url).arrow()


ShardPlace = LocalPlace | RemotePlace | MixedPlace


def open_table(place: ShardPlace, name: str) -> Any:
    """A shard's table, of which nothing is read yet but its foot; `RunError` where it cannot be."""
    import pyarrow.parquet as pq

    system, base = (place.of(name) if isinstance(place, MixedPlace) else place).arrow()
    try:
        return pq.ParquetFile(system.open_input_file(f"{base}/{name}"))
    except (OSError, ValueError) as error:  # Arrow's own errors are these two
        raise table_fault(place, name, error) from None


def table_fault(place: ShardPlace, name: str, error: Exception) -> RunError:
    """One line about a shard that cannot be read."""
    reason = " ".join(str(error).split())[:200]
    return RunError(f"{place}/{name}: cannot be read ({reason}); the same command measures its clips again")
