"""Writing a file whole or not at all, and keeping others out of a folder meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from rushes.core.errors import RunError
from rushes.core.machine.platforms import require_unix
from rushes.core.words.options import option

try:
    import fcntl
except ImportError:  # Windows, which `require_unix` refuses before a lock is taken
    fcntl = None  # type: ignore[assignment]

Paths: TypeAlias = "str | Path | Iterable[str | Path]"
"""One path, or several."""
LOCK = ".lock"
"""The file that keeps a second writer out of a folder."""


def file_stamp(path: Path) -> tuple[int, int]:
    """Size and time of change: tells a changed file from the one that was seen before."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@contextmanager
def replacing(target: Path) -> Iterator[IO[str]]:
    """Write UTF-8 text beside its target, then put it in place in one step; on an error nothing is left behind."""
    with replacing_path(target, target.name + ".tmp") as part, open(part, "w", encoding="utf-8", newline="\n") as out:
        yield out


@contextmanager
def replacing_bytes(target: Path, *, shared: bool = False, synced: bool = False) -> Iterator[IO[bytes]]:
    """The same for bytes. `shared`: several processes may write it at once; `synced`: it is then on the disk."""
    name = f"{target.name}.{os.getpid()}.tmp" if shared else f"{target.name}.tmp"
    with replacing_path(target, name) as part, open(part, "wb") as out:
        yield out
        if synced:
            out.flush()
            os.fsync(out.fileno())


@contextmanager
def replacing_path(target: Path, name: str) -> Iterator[Path]:
    """The same for whoever opens the file itself: a path of this name beside the target."""
    part = target.with_name(name)
    try:
        yield part
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and (error.filename == str(part) or _of_the_disk(error)):
            error.filename, error.filename2 = str(target), None  # the file that was asked for, not the one beside it
        raise


def _of_the_disk(error: OSError) -> bool:
    """Whether writing met the end of the disk, of a quota or of a limit: such an error names no file."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def exclusive_lock(path: Path, *, busy: Exception | None = None) -> Iterator[None]:
    """Hold a lock file for this process alone; it is made, and gone afterwards.

    Where another process holds it, `busy` is raised; without one it is waited for. The file is removed before the lock
    is let go: whoever opened it meanwhile holds a file without a name, which `take_lock` notices.
    """
    try:
        lock = take_lock(path, wait=busy is None)
    except BlockingIOError as error:
        raise busy or error from None
    with lock:
        try:
            yield
        finally:
            with suppress(OSError):  # a full or read-only disk: a file that nobody holds keeps nobody out
                path.unlink()


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Make a folder to write into, and keep other processes out of it; `RunError` where one of them is in it."""
    busy = RunError(f"{folder}: another rushes process is writing here; wait for it or choose another {option('-o')}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"{folder}: expected a folder to write; this is a file") from None
    with exclusive_lock(folder / LOCK, busy=busy):
        yield


def take_lock(path: Path, *, wait: bool = False, create: bool = True) -> IO[bytes]:
    """Hold a lock file open for this process alone, until it is closed or the process ends.

    Raises `BlockingIOError` where another process holds it, unless `wait` is set, and `FileNotFoundError` where there
    is no such file and `create` is off. A file that its last holder removed between our opening and locking it would
    keep nobody out, so the one that has the name now is tried.
    """
    require_unix()
    while True:
        lock = open(path, "wb" if create else "rb+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
                    return lock
        except BaseException:
            lock.close()
            raise
        lock.close()
