"""Files of a sweep that somebody else wrote: opened with care, and the last record of a trace, read from its end.

A trace may be a FIFO, which never ends, or a link to a device, which never ends either, or a link to a file that the
sweep's writer may not read but we may. None of them is opened for reading: regular files only, and none outside the
sweep unless asked for.

Only the last record of `trace_pack.jsonl` counts, and a trace can be larger than memory. So the file is read backwards,
a block at a time, until one whole line that is not blank is there. A short trace is also read from the front, and every
line of it checked.
"""

from __future__ import annotations

import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import IO

from rushes.core.words.options import option
from rushes.instruments.robustness.seed.metrics import MetricComputationError, MissingSweepFile

CHECKED_WHOLE = 1 << 20
"""A trace up to this many bytes has every line checked; of a longer one only the last record is parsed."""
LONGEST_RECORD = 64 << 20
"""A record past this many bytes is refused: a justification of that size is a mistake, and would fill the memory."""
_BLOCK = 1 << 16


def last_record(path: Path, *, inside: Path | None = None) -> dict[str, object]:
    """The last record of the trace; a link that leads out of the folder `inside` is refused.

    Raises `MissingSweepFile` where there is no file, `MetricComputationError` for a trace without records, a line that
    is not a JSON object (naming the line), a record over 64 MiB, or what is no regular file.
    """
    try:
        with open_file(path, inside=inside) as file:
            size = os.fstat(file.fileno()).st_size
            return _checked_whole(file, path) if size <= CHECKED_WHOLE else _from_the_end(file, size, path)
    except FileNotFoundError:
        raise MissingSweepFile(f"{path}: expected the run's trace; found none; run the sweep again") from None
    except OSError as error:
        raise MetricComputationError(f"{path}: cannot be read ({error.strerror or error})") from None


def _checked_whole(file: IO[bytes], path: Path) -> dict[str, object]:
    record: dict[str, object] | None = None
    for number, line in enumerate(file, 1):
        if line.strip():
            record = _parsed(line, path, number)
    if record is None:
        raise MetricComputationError(f"{path}: No trace records: expected at least one line of JSON")
    return record


def _from_the_end(file: IO[bytes], size: int, path: Path) -> dict[str, object]:
    end = _end_of_text(file, size)
    if end == 0:
        raise MetricComputationError(f"{path}: No trace records: expected at least one line of JSON")
    width = _BLOCK
    while True:
        start = max(0, end - width)
        file.seek(start)
        cut = file.read(end - start).rfind(b"\n")
        first = start + cut + 1
        if end - first > LONGEST_RECORD:
            raise MetricComputationError(
                f"{path}: the last record is over {LONGEST_RECORD >> 20} MiB; expected one line with an answer"
            )
        if cut >= 0 or start == 0:
            return _parsed_at(file, first, end, path)
        width *= 2


def _end_of_text(file: IO[bytes], size: int) -> int:
    """Where the last byte that is not blank ends; 0 for a file of blanks."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        text = file.read(end - start).rstrip()
        if text:
            return start + len(text)
        end = start
    return 0


def _parsed_at(file: IO[bytes], start: int, end: int, path: Path) -> dict[str, object]:
    file.seek(start)
    line = file.read(end - start)
    try:
        return _parsed(line, path, None)
    except MetricComputationError:
        # Counting the lines before it takes a pass over the file: only done for the message.
        return _parsed(line, path, _lines_before(file, start) + 1)


def _lines_before(file: IO[bytes], position: int) -> int:
    file.seek(0)
    lines = 0
    while position > 0:
        block = file.read(min(_BLOCK * 16, position))
        lines += block.count(b"\n")
        position -= len(block)
    return lines


def _parsed(line: bytes, path: Path, number: int | None) -> dict[str, object]:
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MetricComputationError(f"{path}, line {number}: expected JSON; {_reason(error)}") from None
    if not isinstance(record, dict):
        raise MetricComputationError(f"{path}, line {number}: expected a JSON object; got {type(record).__name__}")
    return record


def _reason(error: Exception) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


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
            f"{path}: is a link out of the sweep; copy its target into the sweep, or give "
            f"{option('--follow-links', 'follow_links=True')}"
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
