"""Writing a folder of small finished files, such as a sweep, to a store: made here, pushed as it grows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from rushes.core.errors import RushesError
from rushes.storage.mirrors.pulling import listed, run_address
from rushes.storage.mirrors.staging import Pusher, Staging
from rushes.storage.remote.address import is_remote, joined, safe_name
from rushes.storage.remote.store import get_files
from rushes.storage.remote.transfer import errors_about

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
        _fill(staging)
        pusher = Pusher(partial(_push, staging))
        try:
            yield staging.folder
        finally:
            pusher.stop()
            with suppress(RushesError, OSError):  # told below, unless there is a worse reason for leaving
                _push(staging)
                unpushed = False
        pusher.check()
        _push(staging)
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


def _fill(staging: Staging) -> None:
    """Bring what is there into the folder here; with nothing there, nothing is here."""
    names = [name for name in listed(staging.url) if not _is_hidden(name)]
    if not names:
        staging.wipe()
    staging.fetch(names)


def _push(staging: Staging) -> None:
    staging.renew()
    every = sorted(path for path in staging.folder.rglob("*") if path.is_file())
    files = [path for path in every if not _is_hidden(path.relative_to(staging.folder).as_posix())]
    for rank in (0, 1, 2):
        staging.push(path for path in files if _LAST.get(path.name, 0) == rank)


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
