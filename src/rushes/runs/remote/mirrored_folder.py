"""Writing a folder of small finished files, such as a sweep, to a store: made here, pushed as it grows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rushes.errors import RushesError
from rushes.remote.address import is_remote, joined, safe_name
from rushes.remote.store import get_files, put_files
from rushes.remote.transfer import errors_about
from rushes.runs.remote.pulling import listed, run_address
from rushes.runs.remote.staging import Pusher, Staging

_LAST = {"manifest.json": 1, "sweep_manifest.json": 2}
"""Files that say that others are there go out after them."""


@contextmanager
def mirrored_folder(target: Path | str) -> Iterator[Path]:
    """The folder to write in: the target itself, or for an address one here that holds what is there.

    New and changed files are pushed every few seconds and when the block ends, well or not; names that begin with a dot
    are work under way and stay here.
    """
    if not is_remote(target):
        yield Path(target)
        return
    staging = Staging(run_address(str(target)))
    unpushed = True
    try:
        mirror = _Mirror(staging)
        pusher = Pusher(mirror.push)
        try:
            yield staging.folder
        finally:
            pusher.stop()
            unpushed = not mirror.pushed_all()
        pusher.check()
        mirror.push()
    finally:
        staging.close(keep=unpushed)


@contextmanager
def pulled_folder(place: Path | str) -> Iterator[Path]:
    """A folder to read: the one here, or a copy of what lies at an address, which goes away afterwards."""
    if not is_remote(place):
        yield Path(place)
        return
    url = run_address(str(place))
    with tempfile.TemporaryDirectory(prefix="rushes-") as made:
        folder = Path(made) / safe_name(url)
        get_files([(joined(url, name), folder / name) for name in listed(url) if not _is_hidden(name)])
        with errors_about(folder, url):
            yield folder


class _Mirror:
    def __init__(self, staging: Staging) -> None:
        self._staging, self._folder, self._url = staging, staging.folder, staging.url
        names = [name for name in listed(self._url) if not _is_hidden(name)]
        if not names:
            staging.wipe()
        get_files([(joined(self._url, name), self._folder / name) for name in names])
        self._pushed = {name: self._stamp(name) for name in names}

    def _stamp(self, name: str) -> tuple[int, int]:
        status = (self._folder / name).stat()
        return status.st_size, status.st_mtime_ns

    def push(self) -> None:
        self._staging.renew()
        files = (path for path in self._folder.rglob("*") if path.is_file())
        names = [name for path in files if not _is_hidden(name := path.relative_to(self._folder).as_posix())]
        stamps = {name: self._stamp(name) for name in names}
        for rank in (0, 1, 2):
            new = [n for n in names if _LAST.get(Path(n).name, 0) == rank and self._pushed.get(n) != stamps[n]]
            put_files([(self._folder / name, joined(self._url, name)) for name in sorted(new)])
            self._pushed |= {name: stamps[name] for name in new}

    def pushed_all(self) -> bool:
        """Push what is left; whether that worked."""
        try:
            self.push()
        except (RushesError, OSError):
            return False
        return True


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
