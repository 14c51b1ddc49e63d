"""Opening a file of a sweep that somebody else wrote: regular files only, and none outside the sweep unless asked for.

A trace may be a FIFO, which never ends, or a link to a device, which never ends either, or a link to a file that the
sweep's writer may not read but we may. None of them is opened for reading.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from rushes.instruments.robustness.seed.metrics import MetricComputationError


def open_file(path: Path, *, inside: Path | None = None) -> BufferedReader:
    """The file, open for reading bytes.

    Raises `MetricComputationError` for what is no regular file, and for a link that leads out of the folder `inside`
    (None: links are followed); `OSError` where it cannot be opened.
    """
    if inside is not None:
        _check_inside(path, inside)
    file = open(path, "rb", opener=_at_once)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise MetricComputationError(f"{path}: expected a regular file; got a pipe, a device or a socket")
    return file


def read_bytes(path: Path, *, inside: Path | None = None) -> bytes:
    """The whole file, opened as `open_file` does."""
    with open_file(path, inside=inside) as file:
        return file.read()


def _check_inside(path: Path, folder: Path) -> None:
    if _holds_no_link(path, folder):
        return
    target, home = os.path.realpath(path), os.path.realpath(folder)
    if os.path.commonpath((target, home)) != home:
        raise MetricComputationError(
            f"{path}: is a link out of the sweep; copy what it leads to into the sweep, or give --follow-links"
        )


def _holds_no_link(path: Path, folder: Path) -> bool:
    """Whether no step from the folder to the path is a link: then there is nothing to resolve."""
    try:
        steps = path.relative_to(folder).parts
    except ValueError:
        return False
    here = str(folder)
    for step in steps:
        here = f"{here}/{step}"
        if step == ".." or os.path.islink(here):
            return False
    return True


def _at_once(path: str, flags: int) -> int:
    """Open without waiting: a FIFO that nobody writes to would keep us for ever."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
