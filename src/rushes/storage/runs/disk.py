"""What a run's files end in when they cannot be written or read, in one line that tells what to do."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rushes.core.errors import DefinitionError, RunError, RushesError

CORRUPT = (DefinitionError, LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What files of somebody else's making can end in while they are put together."""


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what the file system says into one line that tells what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunError(
                f"{path}: the disk is full; free some space and run the same command again, finished work is kept"
            ) from error
        where = error.filename or path
        raise RunError(f"{where}: cannot write the run ({error.strerror or error})") from error


def made_by(path: Path) -> Path | None:
    """The topmost folder that making this one makes; None where it is there already."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    return missing[-1] if missing else None


def remove_made(path: Path, made: Path | None) -> None:
    """Remove a folder and, as far as they are empty, those that were made for it."""
    if made is None:
        return
    shutil.rmtree(path, ignore_errors=True)
    for folder in path.parents:
        if not folder.is_relative_to(made):
            return
        with suppress(OSError):
            folder.rmdir()


@contextmanager
def misfits(what: str, then: str) -> Iterator[None]:
    """Turn what files end in that are not what a run writes into one line: what is wrong, why, and what to do then."""
    try:
        yield
    except CORRUPT as error:
        if isinstance(error, RushesError) and not isinstance(error, DefinitionError):
            raise
        raise RunError(f"{what} ({' '.join(repr(error).split())}); {then}") from None


_ROWS = ("journal.jsonl", "measurements.jsonl", "index.json")


def require_info(folder: Path) -> None:
    """Raise `RunError` for a run without its `run.json`: it would pass for one that was never measured."""
    if not (folder / "run.json").is_file() and any((folder / name).is_file() for name in _ROWS):
        raise RunError(
            f"{folder}/run.json: is missing, and the rest of the run is there; restore it from a copy, or remove the "
            "folder and measure again"
        )
