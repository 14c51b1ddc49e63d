"""`rushes` in a terminal of a chosen width: what a person sees."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Callable
from contextlib import suppress

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def seen(do: Callable[[], object], columns: int, *, env: dict[str, str] | None = None) -> str:
    """What `do` prints to a terminal of so many columns; it runs in a child process that shares what is loaded."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        os.environ.pop("COLUMNS", None)
        os.environ.update({"TERM": "xterm"} | (env or {}))
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        sys.stdout = sys.__stdout__ = open(1, "w", buffering=1, encoding="utf-8", closefd=False)
        sys.stderr = sys.__stderr__ = open(os.devnull, "w", encoding="utf-8")
        code = 1
        with suppress(BaseException):
            do()
            code = 0
        sys.stdout.flush()
        os._exit(code)
    found = bytearray()
    with suppress(OSError):  # the end of a terminal is an error on Linux
        while part := os.read(terminal, 65536):
            found += part
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    text = found.decode("utf-8").replace("\r\n", "\n")
    assert os.waitstatus_to_exitcode(status) == 0, text
    return text


def command(*words: str) -> Callable[[], object]:
    """A command line, to be run in the child."""

    def run() -> None:
        from rushes.cli.main import app

        assert app(list(words), standalone_mode=False) in (0, None)

    return run


def plain(text: str) -> str:
    return COLOUR.sub("", text)
