"""Writing a file whole or not at all, and keeping others out of a folder meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rushes.core.platforms import require_unix

try:
    import fcntl
except ImportError:  # Windows, which `require_unix` refuses before a lock is taken
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(target: Path) -> Iterator[IO[str]]:
    """Write UTF-8 text beside its target, then put it in place in one step; on an error nothing is left behind."""
    with replacing_path(target, target.name + ".tmp") as part, open(part, "w", encoding="utf-8", newline="\n") as out:
        yield out


@contextmanager
def replacing_bytes(target: Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """The same for bytes. `shared`: several processes may write this target at once, each whole."""
    name = f"{target.name}.{os.getpid()}.tmp" if shared else f"{target.name}.tmp"
    with replacing_path(target, name) as part, open(part, "wb") as out:
        yield out


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
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename, error.filename2 = str(target), None  # the file that was asked for, not the one beside it
        raise


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder itself locked against other processes that do the same; no lock file is left beside it."""
    require_unix()
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def take_lock(path: Path, *, wait: bool = False, create: bool = True) -> IO[bytes]:
    """Hold a lock file open for this process alone, until it is closed or the process ends.

    Raises `BlockingIOError` where another process holds it, unless `wait` is set, and `FileNotFoundError` where there
    is no such file and `create` is off.
    """
    require_unix()
    lock = open(path, "wb" if create else "rb+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        lock.close()
        raise
    return lock
