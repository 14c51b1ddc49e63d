"""Writing a run in shards to a store: made in a folder here, each shard pushed once it is whole, and then let go here.

Pushes come every few seconds and at the end: spools first, then shards, then their markers. So whenever a writer is
killed, the store holds every clip that was pushed, in a shard or in a spool, and any machine continues from it: it
fetches markers and spools, and reads the shards that are there by range. `run.json` with the status `complete` goes
last. What could not be pushed stays in the folder here, and the same command on this machine pushes it, unless another
machine went on meanwhile.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

from rushes.core.files import replacing_bytes
from rushes.errors import RunError, RushesError
from rushes.remote.address import joined
from rushes.remote.errors import RemoteError, Vanished
from rushes.remote.store import get_bytes, get_files, list_objects, put_files, remove
from rushes.remote.transfer import errors_about
from rushes.runs.remote.pulling import RUN_FILES, listed, run_address, session_of
from rushes.runs.remote.staging import LOCK, Pusher, Staging
from rushes.runs.shards.index import FOLDER, INDEX, INPUTS, Index, Shard, size_fault
from rushes.runs.shards.places import MixedPlace, ShardPlace
from rushes.runs.shards.spool import FOLDER as SPOOL
from rushes.runs.shards.spool import token_of
from rushes.runs.shards.writer import ShardedWriter

_PUSHED = ".pushed"
"""The token of the last session that reached the store: while the store has the same, nobody else went on."""
_SMALL = ("run.json", INPUTS, INDEX)


class MirroredShards(ShardedWriter):
    """Writes one run in shards at an address; `path` is the folder here that it grows in."""

    def __init__(self, path: Path | str, **asked: Any) -> None:
        self.url = run_address(str(path))
        self._staging = Staging(self.url)
        self._unpushed = False
        self._pushed: dict[str, tuple[int, int]] = {}
        try:
            self._sizes = self._fill()
            with errors_about(self._staging.folder, self.url):
                super().__init__(self._staging.folder, **asked)
        except BaseException:
            self._staging.close(keep=True)
            raise
        try:
            if asked.get("overwrite"):
                self._take_away()
            self._push()
            remove([joined(self.url, INDEX)])  # a marker for each of its shards is there by now
        except BaseException:
            super().__exit__(None, None, None)
            self._staging.close(keep=True)
            raise
        self._pusher = Pusher(self._push)

    def _fill(self) -> dict[str, int]:
        """Bring what a writer needs of the run that is there, if the folder here is not ahead; each file's size."""
        folder = self._staging.folder
        sizes = {file.url[len(self.url) + 1 :]: file.size for file in list_objects(f"{self.url}/", hidden=True).files}
        names = [name for name in listed(self.url) if name != LOCK]
        if names and "run.json" not in names:
            raise RunError(f"{self.url}: expected nothing or a run; it holds {names[0]}; choose another -o")
        if names and _pushed_token(folder) and _pushed_token(folder) == self._token_there(names):
            return sizes
        self._staging.wipe()
        wanted = [name for name in names if name in _SMALL or name.startswith(f"{SPOOL}/") or _is_marker(name)]
        get_files([(joined(self.url, name), folder / name) for name in wanted])
        self._pushed = {name: _stamp(folder / name) for name in wanted if name != "run.json"}
        return sizes

    def _token_there(self, names: list[str]) -> str:
        name = f"{SPOOL}/session"
        try:
            return get_bytes(joined(self.url, name)).decode("ascii", "replace") if name in names else ""
        except Vanished:
            return ""

    def _take_away(self) -> None:
        """Remove the results of the run that was there."""
        gone = [name for name in listed(self.url) if _is_result(name)]
        remove([joined(self.url, name) for name in gone])
        self._pushed, self._sizes = {}, {}

    def _place(self) -> ShardPlace:
        return MixedPlace(self.path, self.url)

    def _fault(self, shard: Shard) -> str:
        def size(name: str) -> int | None:
            here = self.path / name
            return here.stat().st_size if here.exists() else self._sizes.get(name)

        return size_fault(self.url, shard, size)

    def _second_name(self, name: str, target: Path) -> None:
        if (self.path / name).exists():
            super()._second_name(name, target)
        elif name in self._sizes:
            get_files([(joined(self.url, name), target)])

    def _push(self) -> None:
        """Push what is new: spools, shards, markers, in this order; a shard that is there is let go here."""
        self._staging.renew()
        self._put_changed([file for file in sorted((self.path / SPOOL).rglob("*")) if file.suffix != ".recipe"])
        (self.path / _PUSHED).write_text(token_of(self.path), encoding="ascii")
        markers = [file for file in sorted((self.path / FOLDER).glob("*.json")) if self._is_new(file)]
        for marker in markers:
            stamp = _stamp(marker)
            files = [file for ending in (".parquet", ".series") if (file := marker.with_suffix(ending)).exists()]
            put_files([(file, self._address(file)) for file in (*files, marker)])
            self._pushed[f"{FOLDER}/{marker.name}"] = stamp
            for file in files:
                self._sizes[f"{FOLDER}/{file.name}"] = file.stat().st_size
                file.unlink()
        self._put_changed([self.path / name for name in (INPUTS, "run.json")])
        spools = [name for name in self._pushed if name.startswith(f"{SPOOL}/") and not (self.path / name).exists()]
        remove([joined(self.url, name) for name in spools])
        for name in spools:
            del self._pushed[name]

    def _put_changed(self, files: list[Path]) -> None:
        new = [file for file in files if file.is_file() and not file.name.endswith(".tmp") and self._is_new(file)]
        stamps = [_stamp(file) for file in new]  # before the push: what is appended meanwhile goes with the next
        put_files([(file, self._address(file)) for file in new])
        self._pushed |= {self._name(file): stamp for file, stamp in zip(new, stamps, strict=True)}

    def _is_new(self, file: Path) -> bool:
        return self._pushed.get(self._name(file)) != _stamp(file)

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix()

    def _address(self, file: Path) -> str:
        return joined(self.url, self._name(file))

    def _tidy(self, index: Index) -> None:
        """Push what is left, `run.json` last, and take away there and here what only a run under way needs."""
        self._pusher.stop()
        try:
            self._pusher.check()
            with replacing_bytes(self.path / ".run.json") as out:  # not before the index is there
                out.write((self.path / "run.json").read_bytes())
            (self.path / "run.json").unlink()
            self._push()
            self._put_changed([self.path / INDEX])
            os.replace(self.path / ".run.json", self.path / "run.json")
            self._put_changed([self.path / "run.json"])
            kept = {name for shard in index.shards for name in (shard.name, shard.series_name)} | set(_SMALL)
            remove([joined(self.url, name) for name in listed(self.url) if _is_result(name) and name not in kept])
        except RemoteError as error:
            self._unpushed = True
            if (self.path / ".run.json").exists():
                os.replace(self.path / ".run.json", self.path / "run.json")
            raise RunError(
                f"{self.url}: the run is complete, but did not get there ({error}); "
                f"it is kept in {self.path}, and the same command pushes it"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pusher.stop()
        under_way = self._is_open
        super().__exit__(kind, error, trace)
        if under_way:
            try:
                self._push()
            except RushesError:
                self._unpushed = True  # the reason for leaving early matters more
        self._staging.close(keep=self._unpushed)


def _pushed_token(folder: Path) -> str:
    try:
        return (folder / _PUSHED).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _is_marker(name: str) -> bool:
    return name.startswith(f"{FOLDER}/") and name.endswith(".json")


def _is_result(name: str) -> bool:
    below = name.startswith((f"{FOLDER}/", f"{SPOOL}/", "series/"))
    return below or name in (*RUN_FILES[1:], INDEX, INPUTS) or bool(session_of(name))


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns
