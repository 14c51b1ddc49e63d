"""Writing a run directory to a store: `RunWriter` in a folder here, pushed as it grows.

What is there at the opening is pulled, so that any machine continues a run. Then every few seconds the new lines of the
journal go out as one object, after the series they speak of. `finish` pushes the final files, `run.json` last, and then
takes the journal away. A killed writer loses the work since its last push; the resumed run has the same bytes. Work
that could not be pushed (the network, credentials that ran out) stays in the folder here, and the next run on this
machine goes on from it, unless somebody else went on from what the store has.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from rushes.errors import RunError, RushesError
from rushes.remote.address import joined
from rushes.remote.errors import RemoteError
from rushes.remote.store import get_files, put_bytes, put_files, remove
from rushes.remote.transfer import errors_about
from rushes.runs.packing import Packed
from rushes.runs.remote.pulling import (
    FEATURES,
    RUN_FILES,
    is_complete,
    listed,
    piece_name,
    pull_run,
    read_info,
    run_address,
    session_of,
)
from rushes.runs.remote.staging import Pusher, Staging
from rushes.runs.shards.spool import Stored
from rushes.runs.subjects import Entry
from rushes.runs.writer import RunWriter


class MirroredRun(RunWriter):
    """Writes one run directory at an address; `path` is the folder here that it grows in."""

    def __init__(
        self,
        path: Path | str,
        *,
        instrument: str,
        settings: Mapping[str, object],
        inputs: Sequence[str] = (),
        asked: Sequence[str] | None = None,
        add: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.url = run_address(str(path))
        self._staging = Staging(self.url)
        self._unpushed = False
        try:
            names = self._fill()
            with errors_about(self._staging.folder, self.url):
                super().__init__(
                    self._staging.folder,
                    instrument=instrument,
                    settings=settings,
                    inputs=inputs,
                    asked=asked,
                    add=add,
                    overwrite=overwrite,
                )
        except BaseException:
            self._staging.close(keep=True)  # whatever is wrong, what lies in the folder is not made worse
            raise
        self._features = {name for name in names if name.startswith(f"{FEATURES}/")}
        self._session, self._offset = 1 + max(map(session_of, names), default=0), 0
        try:
            if overwrite:  # before the new run.json, so that nobody takes the old results for the new run's
                names = self._take_away(names)
            self._push()
            self._put("run.json")
            remove([joined(self.url, name) for name in names if session_of(name)])
        except BaseException:
            super().__exit__(None, None, None)
            self._staging.close(keep=True)
            raise
        self._pusher = Pusher(self._push)

    def _fill(self) -> list[str]:
        """Bring what is there into the folder here, unless the folder is ahead of it; the names of what is there."""
        folder, fresh = self._staging.folder, self._staging.beside("pulled")
        names = pull_run(self.url, fresh)
        strangers = sorted(name for name in names if not name.startswith("."))
        if strangers and "run.json" not in names:
            raise RunError(f"{self.url}: expected nothing or a run; it holds {strangers[0]}; choose another -o")
        if _is_ahead(folder, fresh):
            return names
        if not is_complete(fresh):
            kept = [name for name in names if name.startswith(f"{FEATURES}/")]
            get_files([(joined(self.url, name), fresh / name) for name in kept])
        shutil.rmtree(folder, ignore_errors=True)
        fresh.replace(folder)
        return names

    def _take_away(self, names: Sequence[str]) -> list[str]:
        """Remove the results of the run that is there; what is left."""
        gone = {name for name in names if name in RUN_FILES[1:] or name.startswith(("series/", f"{FEATURES}/"))}
        remove([joined(self.url, name) for name in names if name in gone or session_of(name)])
        self._features = set()
        return [name for name in names if name not in gone and not session_of(name)]

    def add(self, entry: Entry | Packed | Stored) -> None:
        """Store one finished subject here; it is in the store a few seconds later."""
        self._pusher.check()
        super().add(entry)

    def finish(self, order: Sequence[str]) -> None:
        """Merge everything into the final files, push them, and take away what only a run under way needs."""
        self._pusher.stop()
        self._pusher.check()
        super().finish(order)
        try:
            self._push_final(self._lines)
        except RemoteError as error:
            self._unpushed = True
            raise RunError(
                f"{self.url}: the run is complete, but did not get there ({error}); "
                f"it is kept in {self.path}, and the same command pushes it"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pusher.stop()
        under_way = not self._journal.closed
        super().__exit__(kind, error, trace)
        if under_way:
            try:
                self._push()
                self._put("run.json")
            except RushesError:
                self._unpushed = True  # the reason for leaving early matters more
        self._staging.close(keep=self._unpushed)

    def _push(self) -> None:
        self._staging.renew()
        lines = self._new_lines()  # before the series, so that none of them lacks its series there
        self._push_series()
        self._push_features()
        if lines:
            put_bytes(lines, joined(self.url, piece_name(self._session, self._offset)))
            self._offset += len(lines)

    def _new_lines(self) -> bytes:
        """Whole lines of the journal that are not in the store."""
        with open(self.path / "journal.jsonl", "rb") as journal:
            journal.seek(self._offset)
            lines = journal.read()
        return lines[: lines.rfind(b"\n") + 1]

    def _push_series(self) -> None:
        """Move new series to the store; the folder here keeps none, so that it stays small."""
        files = sorted((self.path / "series").glob("*.npz"))
        put_files([(file, joined(self.url, f"series/{file.name}")) for file in files])
        for file in files:
            file.unlink()

    def _push_features(self) -> None:
        found = {file.relative_to(self.path).as_posix(): file for file in (self.path / FEATURES).rglob("*.*")}
        new = {name: file for name, file in found.items() if name not in self._features and file.suffix != ".tmp"}
        put_files([(file, joined(self.url, name)) for name, file in new.items()])
        self._features |= set(new)

    def _push_final(self, ids: Collection[str]) -> None:
        self._staging.renew()
        self._push_series()
        self._put("subjects.jsonl", "measurements.jsonl")
        self._put("run.json")
        remove([joined(self.url, name) for name in listed(self.url) if _is_left_over(name, ids)])

    def _put(self, *names: str) -> None:
        put_files([(self.path / name, joined(self.url, name)) for name in names])


def _is_left_over(name: str, ids: Collection[str]) -> bool:
    """Whether a complete run has no use for this: its journal, computed features, series of subjects it dropped."""
    stray = name.startswith("series/") and name.removeprefix("series/").removesuffix(".npz") not in ids
    return stray or bool(session_of(name)) or name.startswith(f"{FEATURES}/")


def _is_ahead(folder: Path, fresh: Path) -> bool:
    """Whether a folder holds the run that was pulled and, beyond it, work that did not get to the store."""
    mine, theirs = read_info(folder), read_info(fresh)
    if not theirs or is_complete(fresh) or mine.get("started") != theirs.get("started"):
        return False
    return is_complete(folder) or _journal(folder).startswith(_journal(fresh))


def _journal(folder: Path) -> bytes:
    try:
        return (folder / "journal.jsonl").read_bytes()
    except FileNotFoundError:
        return b""
