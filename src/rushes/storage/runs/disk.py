"""What a file system says when a run cannot be written, in one line that tells what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rushes.core.errors import RunError


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
