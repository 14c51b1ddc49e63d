"""Writing a run in shards to a store: made in a folder here, each shard pushed once it is whole, and then let go here.

Pushes come every few seconds and at the end: spools first, then shards, then their markers. So whenever a writer is
killed, the store holds every clip that was pushed, in a shard or in a spool, and any machine continues from it: it
fetches markers and spools, and reads the shards that are there by range. `run.json` with the status `complete` goes
last. What could not be pushed stays in the folder here, and the same command on this machine pushes it, unless another
machine went on meanwhile.
"""

from __future__ import annotations

from pathlib import Path

from rushes.storage.mirrors.pulling import listed
from rushes.storage.mirrors.run import Mirrored, is_result, require_run
from rushes.storage.mirrors.staging import LOCK
from rushes.storage.remote.address import joined
from rushes.storage.remote.errors import Vanished
from rushes.storage.remote.store import get_bytes, get_files
from rushes.storage.shards.index import FOLDER, INDEX, INPUTS, Index, Shard, fault
from rushes.storage.shards.places import MixedPlace, ShardPlace
from rushes.storage.shards.spool import FOLDER as SPOOL
from rushes.storage.shards.spool import token_of
from rushes.storage.shards.writer import ShardedWriter

_PUSHED = ".pushed"
"""The token of the last session that reached the store: while the store has the same, nobody else went on."""
_SMALL = ("run.json", INPUTS, INDEX)


class MirroredShards(Mirrored, ShardedWriter):
    """Writes one run in shards at an address."""

    def _fill(self) -> None:
        self._stale = [INDEX]  # a marker for each of its shards is there by then
        self._sizes = listed(self.url)
        names = [name for name in self._sizes if name != LOCK]
        require_run(self.url, names)
        pushed = _pushed_token(self._staging.folder)
        if not (names and pushed and pushed == self._token_there(names)):
            self._staging.wipe()
            self._staging.fetch(
                name for name in names if name in _SMALL or name.startswith(f"{SPOOL}/") or _is_marker(name)
            )

    def _token_there(self, names: list[str]) -> str:
        name = f"{SPOOL}/session"
        try:
            return get_bytes(joined(self.url, name)).decode("ascii", "replace") if name in names else ""
        except Vanished:
            return ""

    def _take_away(self) -> None:
        super()._take_away()
        self._sizes = {}

    def _place(self) -> ShardPlace:
        return MixedPlace(self.path, self.url)

    def _fault(self, shard: Shard) -> str:
        return fault(self.path, shard, elsewhere=self._sizes, url=self.url)

    def _second_name(self, name: str, target: Path) -> None:
        if (self.path / name).exists():
            super()._second_name(name, target)
        elif name in self._sizes:
            get_files([(joined(self.url, name), target)])

    def _push_work(self) -> None:
        """Push what is new: spools, shards, markers, in this order; a shard that is there is let go here."""
        spools = sorted((self.path / SPOOL).rglob("*"))
        self._staging.push(file for file in spools if file.suffix not in (".recipe", ".tmp"))
        (self.path / _PUSHED).write_text(token_of(self.path), encoding="ascii")
        for marker in filter(self._staging.is_new, sorted((self.path / FOLDER).glob("*.json"))):
            files = [file for ending in (".parquet", ".series") if (file := marker.with_suffix(ending)).exists()]
            self._staging.push([*files, marker])
            for file in files:
                self._sizes[f"{FOLDER}/{file.name}"] = file.stat().st_size
                file.unlink()
        self._staging.push([self.path / INPUTS])
        self._staging.remove(self._staging.gone(SPOOL))

    def _tidy(self, index: Index) -> None:
        """Push what is left, `run.json` last, and take away there what only a run under way needs."""
        self._pusher.stop()
        with self._completing():
            self._staging.renew()
            self._push_work()
            self._staging.push([self.path / INDEX])
            self._staging.push([self.path / "run.json"])
            kept = {name for shard in index.shards for name in (shard.name, shard.series_name)} | set(_SMALL)
            self._staging.remove(name for name in listed(self.url) if is_result(name) and name not in kept)


def _pushed_token(folder: Path) -> str:
    try:
        return (folder / _PUSHED).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def _is_marker(name: str) -> bool:
    return name.startswith(f"{FOLDER}/") and name.endswith(".json")
