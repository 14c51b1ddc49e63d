"""Files at hand: local ones as they are, objects as copies that go away; and results uploaded when they are written.

A copy is only handed out when the store names the same version before and after it was made. Local files do not pass
through a store.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core.errors import RushesError
from rushes.core.machine.files import take_lock
from rushes.storage.remote.address import Place, RemoteFile, is_remote, parse_address, safe_name
from rushes.storage.remote.errors import RemoteError, Unreachable, Vanished
from rushes.storage.remote.store import ATTEMPTS, file_of, filesystem, put_file, stat, with_retries

_PREFIX = "rushes-remote-"


@dataclass(frozen=True, slots=True)
class Copy:
    """A file at hand, and the object it is a copy of; None for a file that was here all along."""

    path: Path
    file: RemoteFile | None = None


@contextmanager
def local_copy(place: Place | str) -> Iterator[Copy]:
    """A file at hand: a local one as it is, an object as a copy in a temporary folder that goes away afterwards.

    A `RemoteFile` gives the very version that was listed, or `Vanished`; an address gives what is there now. Raises
    `Unreachable` when the store does not answer after `ATTEMPTS` attempts. An error that leaves the block and names the
    copy is made to name the object.
    """
    if isinstance(place, Path) or not is_remote(place):
        yield Copy(Path(str(place)))
    elif isinstance(place, RemoteFile) and place.cached_at and Path(place.cached_at).is_file():
        yield Copy(Path(place.cached_at), place)
    else:
        with temporary_folder() as folder:
            local = folder / safe_name(str(place))
            file = _download(place, local)
            with errors_about(local, str(place)):
                yield Copy(local, file)


@contextmanager
def errors_about(local: Path, url: str) -> Iterator[None]:
    """An error that leaves the block and names the copy is made to name the object: that is what its reader knows."""
    try:
        yield
    except RushesError as error:
        error.args = (str(error).replace(str(local), url),)
        raise


@contextmanager
def cached_copy(place: Place) -> Iterator[Place]:
    """The same file, with a copy on this machine for as long as the block runs: for what many tasks read."""
    if isinstance(place, Path):
        yield place
        return
    with local_copy(place) as copy:
        yield replace(place, cached_at=str(copy.path))


@contextmanager
def upload_on_exit(target: Path | str) -> Iterator[Path]:
    """Where to write a file that is meant for `target`: there, or in a temporary folder and uploaded afterwards."""
    if not is_remote(target):
        yield Path(target)
        return
    _, _, key = parse_address(str(target))
    if not key or key.endswith("/"):
        raise RemoteError(f"{target}: expected the address of a file to write; this one names a folder")
    filesystem(str(target))  # a missing package shows before the work
    with temporary_folder() as folder:
        local = folder / safe_name(str(target))
        yield local
        put_file(local, str(target))


def _download(place: RemoteFile | str, local: Path) -> RemoteFile:
    url = str(place)
    store = filesystem(url)
    path = url.partition("://")[2]
    before = place if isinstance(place, RemoteFile) else with_retries(url, lambda: stat(url))
    for _ in range(ATTEMPTS):
        _require_room(before, local.parent)
        with_retries(url, lambda: store.get_file(path, str(local)))
        after = with_retries(url, lambda: file_of(url.partition("://")[0], store.info(path)))
        if after.facts() == before.facts() and local.stat().st_size == before.size:
            return replace(after, url=url)
        if isinstance(place, RemoteFile):
            raise Vanished(f"{url}: changed since it was listed; run the command again")
        before = after
    raise Unreachable(f"{url}: changes while it is being read; run the command again when it is complete")


def _require_room(file: RemoteFile, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if file.size > free:
        raise RemoteError(
            f"{file}: has {file.size / 1e9:.1f} GB, more than the {free / 1e9:.1f} GB free in {folder.parent}; "
            "point TMPDIR at a larger disk"
        )


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder, locked while its owner lives, so that what a killed process left can be told and removed."""
    remove_orphans()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        with take_lock(folder / ".taking", wait=True):
            os.rename(folder / ".taking", folder / ".lock")  # so that a `.lock` nobody holds is always a dead owner's
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_orphans() -> None:
    """Remove the temporary folders whose owners were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), take_lock(folder / ".lock", create=False):
            shutil.rmtree(folder, ignore_errors=True)  # which does not follow links
