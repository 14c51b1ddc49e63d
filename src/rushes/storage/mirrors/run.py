"""Writing a run directory to a store: a writer in a folder here, pushed as it grows.

What is there at the opening is pulled, so that any machine continues a run. Then every few seconds the new lines of the
journal go out as one object, after the series they speak of. `finish` pushes the final files, `run.json` last, and then
takes the journal away. A killed writer loses the work since its last push; the resumed run has the same bytes. Work
that could not be pushed (the network, credentials that ran out) stays in the folder here, and the next run on this
machine goes on from it, unless somebody else went on from what the store has.
"""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rushes.core.errors import RunError, RushesError
from rushes.core.words.options import option
from rushes.storage.integrity.seal import SERIES
from rushes.storage.mirrors import pulling
from rushes.storage.mirrors.pulling import FEATURES, is_complete, listed, session_of
from rushes.storage.mirrors.staging import LOCK, Pusher, Staging
from rushes.storage.remote.address import joined
from rushes.storage.remote.errors import RemoteError, Vanished
from rushes.storage.remote.store import get_bytes, get_files, put_bytes
from rushes.storage.remote.transfer import errors_about
from rushes.storage.runs.packing import Packed
from rushes.storage.runs.subjects import Entry
from rushes.storage.runs.writer import RESULTS, RunWriter
from rushes.storage.shards.index import FOLDER, INDEX, INPUTS, Index, Shard, fault
from rushes.storage.shards.reading import ShardPlace
from rushes.storage.shards.spool import FOLDER as SPOOL
from rushes.storage.shards.spool import SESSION, Stored, token_in
from rushes.storage.shards.writer import ShardedWriter

_PUSHED = ".pushed"
"""The token of the last session that reached the store: while the store has the same, nobody else went on."""
_SMALL = ("run.json", INPUTS, INDEX)


class Mirrored(RunWriter):
    """A writer of any kind whose run lies at an address; `path` is the folder here that it grows in."""

    def __init__(self, path: Path | str, **asked: Any) -> None:
        self.url = pulling.run_address(str(path))
        self._staging = Staging(self.url)
        self._unpushed = False
        try:
            self._fill()
            with errors_about(self._staging.folder, self.url):
                super().__init__(self._staging.folder, **asked)
        except BaseException:
            self._staging.close(keep=True)  # whatever is wrong, what lies in the folder is not made worse
            raise
        try:
            if asked.get("overwrite"):  # before the new run.json: nobody takes the old results for the new run's
                self._take_away()
            self._push()
            self._staging.remove(self._stale)
        except BaseException:
            super().__exit__(None, None, None)
            self._staging.close(keep=True)
            raise
        self._pusher = Pusher(self._push)

    _stale: list[str]
    """Objects of the run that was there, of which this writer's first push has all that counts."""

    @abstractmethod
    def _fill(self) -> None:
        """Bring what a writer needs of the run that is there, unless the folder here is ahead of it."""

    def _take_away(self) -> None:
        """Remove the results of the run that was there."""
        self._staging.remove(name for name in listed(self.url) if _is_result(name))

    @abstractmethod
    def _push_work(self) -> None:
        """Push what is finished and not there."""

    def _push(self) -> None:
        self._staging.renew()
        self._push_work()
        self._staging.push([self.path / "run.json"])

    @contextmanager
    def _completing(self) -> Iterator[None]:
        """The last push, of a run that is complete here."""
        self._pusher.check()
        try:
            yield
        except RemoteError as error:
            self._unpushed = True
            raise RunError(
                f"{self.url}: the run is complete, but could not be uploaded ({error}); "
                f"it is kept in {self.path}, and the same command uploads it"
            ) from None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._pusher.stop()
        under_way = self._is_open
        super().__exit__(kind, error, trace)
        if under_way:
            try:
                self._push()
            except RushesError:
                self._unpushed = True  # the reason for leaving early matters more
        self._staging.close(keep=self._unpushed)


def _require_run(url: str, names: Collection[str]) -> None:
    """Refuse an address that holds something else than a run."""
    strangers = sorted(name for name in names if not name.startswith("."))
    if strangers and "run.json" not in names:
        raise RunError(f"{url}: expected nothing or a run; it holds {strangers[0]}; choose another {option('-o')}")


def _is_result(name: str) -> bool:
    """Whether an object is of a run, in one piece or in shards, beside what that says of itself."""
    return name.split("/")[0] in RESULTS or bool(session_of(name))


class MirroredRun(Mirrored):
    """Writes one run directory at an address."""

    def _fill(self) -> None:
        folder, fresh = self._staging.folder, self._staging.emptied_beside()
        names = pulling.pull_run(self.url, fresh)
        _require_run(self.url, names)
        self._stale = [name for name in names if session_of(name)]
        self._session, self._offset = 1 + max(map(session_of, names), default=0), 0
        self._series_there = {name.removeprefix(f"{SERIES}/") for name in names if name.startswith(f"{SERIES}/")}
        features = [name for name in names if name.startswith(f"{FEATURES}/")]
        if not _is_ahead(folder, fresh):
            if not is_complete(fresh):
                get_files([(joined(self.url, name), fresh / name) for name in features])
            shutil.rmtree(folder, ignore_errors=True)
            fresh.replace(folder)
        self._staging.mark_pushed(features)

    def _take_away(self) -> None:
        super()._take_away()
        self._series_there = set()

    def _kept_series(self) -> set[str]:
        """With those in the store: the folder here keeps none that was pushed."""
        there = {name for name in self._series_there if name.removesuffix(".npz") in self._lines}
        return there | super()._kept_series()

    def add(self, entry: Entry | Packed | Stored) -> None:
        """Store one finished subject here; it is in the store a few seconds later."""
        self._pusher.check()
        super().add(entry)

    def finish(self, order: Sequence[str]) -> None:
        """Merge everything into the final files, push them, and take away what only a run under way needs."""
        self._pusher.stop()
        self._pusher.check()
        super().finish(order)
        with self._completing():
            self._staging.renew()
            self._push_series()
            self._staging.push([self.path / "subjects.jsonl", self.path / "measurements.jsonl"])
            self._staging.push([self.path / "run.json"])
            self._staging.remove(name for name in listed(self.url) if _is_left_over(name, self._lines))

    def _push_work(self) -> None:
        lines = self._new_lines()  # before the series, so that none of them lacks its series there
        self._push_series()
        self._staging.push(file for file in (self.path / FEATURES).rglob("*.*") if file.suffix != ".tmp")
        if lines:
            put_bytes(lines, joined(self.url, pulling.piece_name(self._session, self._offset)))
            self._offset += len(lines)

    def _new_lines(self) -> bytes:
        """Whole lines of the journal that are not in the store."""
        with open(self.path / "journal.jsonl", "rb") as journal:
            journal.seek(self._offset)
            lines = journal.read()
        return lines[: lines.rfind(b"\n") + 1]

    def _push_series(self) -> None:
        """Move new series to the store; the folder here keeps none, so that it stays small."""
        files = sorted((self.path / SERIES).glob("*.npz"))
        self._staging.push(files)
        self._series_there |= {file.name for file in files}
        for file in files:
            file.unlink()


def _is_left_over(name: str, ids: Collection[str]) -> bool:
    """Whether a complete run has no use for this: its journal, computed features, series of subjects it dropped."""
    stray = name.startswith(f"{SERIES}/") and name.removeprefix(f"{SERIES}/").removesuffix(".npz") not in ids
    return stray or bool(session_of(name)) or name.startswith(f"{FEATURES}/")


def _is_ahead(folder: Path, fresh: Path) -> bool:
    """Whether a folder holds the run that was pulled and, beyond it, work that did not get to the store."""
    mine, theirs = pulling.read_info(folder), pulling.read_info(fresh)
    if not theirs or is_complete(fresh) or mine.get("started") != theirs.get("started"):
        return False
    return is_complete(folder) or _journal(folder).startswith(_journal(fresh))


def _journal(folder: Path) -> bytes:
    try:
        return (folder / "journal.jsonl").read_bytes()
    except FileNotFoundError:
        return b""


class MirroredShards(Mirrored, ShardedWriter):
    """Writes one run in shards at an address: each shard is pushed once it is whole, and then let go here.

    Spools are pushed first, then shards, then their markers. So whenever a writer is killed, the store holds every clip
    that was pushed, in a shard or in a spool, and any machine continues from it: it fetches markers and spools, and
    reads the shards that are there by range. What could not be pushed stays in the folder here, and the same command on
    this machine pushes it, unless another machine went on meanwhile.
    """

    def _fill(self) -> None:
        self._stale = [INDEX]  # a marker for each of its shards is there by then
        self._sizes = listed(self.url)
        names = [name for name in self._sizes if name != LOCK]
        _require_run(self.url, names)
        pushed = token_in(self._staging.folder / _PUSHED)
        if not (names and pushed and pushed == self._token_there(names)):
            self._staging.wipe()
            markers = [name for name in names if name.startswith(f"{FOLDER}/") and name.endswith(".json")]
            spools = [name for name in names if name.startswith(f"{SPOOL}/")]
            self._staging.fetch([*(name for name in names if name in _SMALL), *spools, *markers])

    def _token_there(self, names: list[str]) -> str:
        try:
            return get_bytes(joined(self.url, SESSION)).decode("ascii", "replace") if SESSION in names else ""
        except Vanished:
            return ""

    def _take_away(self) -> None:
        super()._take_away()
        self._sizes = {}

    def _place(self) -> ShardPlace:
        return ShardPlace(self.path, self.url)

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
        (self.path / _PUSHED).write_text(token_in(self.path / SESSION), encoding="ascii")
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
            self._staging.remove(name for name in listed(self.url) if _is_result(name) and name not in kept)
