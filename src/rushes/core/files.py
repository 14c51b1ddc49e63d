"""Writing a file whole or not at all, and keeping others out of a folder meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not a Unix; `rushes.require_unix` says so where it matters
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(target: Path) -> Iterator[IO[str]]:
    """Write UTF-8 text beside its target, then put it in place in one step; on an error nothing is left behind."""
    with _part(target) as part, open(part, "w", encoding="utf-8", newline="\n") as out:
        yield out


@contextmanager
def replacing_bytes(target: Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """The same for bytes. `shared`: several processes may write this target at once, each whole."""
    with _part(target, f".{os.getpid()}.tmp" if shared else ".tmp") as part, open(part, "wb") as out:
        yield out


@contextmanager
def _part(target: Path, ending: str = ".tmp") -> Iterator[Path]:
    part = target.with_name(target.name + ending)
    try:
        yield part
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def take_lock(path: Path, *, wait: bool = False, create: bool = True) -> IO[bytes]:
    """Hold a lock file open for this process alone, until it is closed or the process ends.

    Raises `BlockingIOError` where another process holds it, unless `wait` is set, and `FileNotFoundError` where there
    is no such file and `create` is off.
    """
    lock = open(path, "wb" if create else "rb+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        lock.close()
        raise
    return lock
