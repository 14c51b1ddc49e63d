"""Run a program for a judge: within its time, without more output than anybody reads, and with an end."""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import IO, cast

from rushes.core.errors import InputError
from rushes.core.machine.platforms import ending_with
from rushes.core.machine.provenance import file_digest

_SCRIPT = b"#!"

LONGEST_OUTPUT = 16 << 20
"""Bytes of standard output past which a program is stopped: it prints no answer, it prints."""
_KEPT_ERRORS = 1 << 16
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended, and what it printed."""

    problem: str = ""
    """Why it was stopped, or could not be started."""
    code: int = 0
    out: bytes = b""
    err: bytes = b""
    """The end of what it wrote to standard error."""


def run_program(words: Sequence[str], *, timeout: float) -> Ended:
    """Run it to its end; it is stopped, with everything it started, after `timeout` seconds or 16 MiB of output."""
    try:
        # A session of its own: a program that outlives its time is stopped with everything it started.
        process = subprocess.Popen(  # the user's own program, as words, no shell  # nosec B603
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=ending_with(os.getpid()),
        )
    except (OSError, ValueError) as error:
        return Ended(problem=f"{words[0]}: cannot be started ({getattr(error, 'strerror', None) or error})")
    with cast(IO[bytes], process.stdout) as out, cast(IO[bytes], process.stderr) as err:
        ended = _read(process, out, err, timeout)
    if ended.problem:
        _stop(process)
    return ended


def _read(process: subprocess.Popen[bytes], out: IO[bytes], err: IO[bytes], timeout: float) -> Ended:
    end = monotonic() + timeout
    printed, errors, late = bytearray(), bytearray(), Ended(problem=f"timed out after {timeout:g} s")
    with selectors.DefaultSelector() as ready:
        ready.register(out, selectors.EVENT_READ, printed)
        ready.register(err, selectors.EVENT_READ, errors)
        while ready.get_map():
            left = end - monotonic()
            events = ready.select(left) if left > 0 else []
            if not events and monotonic() >= end:
                return late
            for key, _ in events:
                block = os.read(key.fd, _BLOCK)
                key.data.extend(block)
                if not block:
                    ready.unregister(key.fileobj)
            del errors[:-_KEPT_ERRORS]
            if len(printed) > LONGEST_OUTPUT:
                return Ended(problem=f"printed over {LONGEST_OUTPUT >> 20} MiB; expected one JSON object")
    try:
        code = process.wait(timeout=max(0.0, end - monotonic()))
    except subprocess.TimeoutExpired:
        return late
    return Ended(code=code, out=bytes(printed), err=bytes(errors))


def _stop(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended between the time-out and here
    # Its pipes are closed: what it started in a session of its own may live on, and nobody waits for that.
    process.wait()


def command_words(command: str) -> list[str]:
    """The command as a shell would split it; `InputError` where it cannot be, or is empty."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"the command cannot be split into words ({error}); got {command!r}") from None
    if not words:
        raise InputError("the command is empty; for example 'python judge.py {clip}'")
    return words


def script_digests(words: Sequence[str]) -> dict[str, str]:
    """sha256 of every file that the command names, by the word that names it: a changed script is another judge.

    The program itself counts where it is a script; an interpreter or a binary is told by its name alone, so that the
    same sweep can go on on another machine.
    """
    found: dict[str, str] = {}
    for number, word in enumerate(words):
        path = Path(word if number else shutil.which(word) or word)
        try:
            stat = path.stat()
            if path.is_file() and (number or _is_script(path)):
                found[word] = _digest(str(path), stat.st_mtime_ns, stat.st_size)
        except (OSError, ValueError):
            continue  # a word that is no file, or one that cannot be read: the judge will say so
    return found


def _is_script(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_SCRIPT)) == _SCRIPT


@lru_cache(maxsize=64)
def _digest(path: str, changed_ns: int, size: int) -> str:
    """Read again only where the file has changed: every run's description asks for it."""
    return file_digest(path)
