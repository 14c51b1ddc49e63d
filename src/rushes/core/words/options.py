"""Options in errors and notes, as the caller types them: `--resize-to gt` in a shell, `resize_to='gt'` in Python.

A message that names an option is written once, with `option`. The command line says at its start that it is one; every
other caller is a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IN_SHELL: ContextVar[bool] = ContextVar("rushes_in_shell", default=False)
_PROCESS = {"shell": False}
_SHORT = {"-o": "run", "--out": "run", "--memory": "memory_mb"}
_SWITCHES = {"add", "canon", "overwrite", "yes"}


@contextmanager
def in_shell() -> Iterator[None]:
    """While a command of the command line runs, options are named by their flags."""
    token = _IN_SHELL.set(True)
    try:
        yield
    finally:
        _IN_SHELL.reset(token)


def this_is_a_shell_command() -> None:
    """The whole process is the command line: every thread of it names flags."""
    _PROCESS["shell"] = True


def option(flag: str, python: str = "") -> str:
    """An option, with its value where there is one, in the caller's words.

    `flag` is as typed in a shell; `python` is the argument where its name or value is another one there. A word in
    capitals stands for any value. Without a value it is the option's name, of a switch what turns it.

    >>> option("--resize-to gt"), option("--weights FILE"), option("--overwrite"), option("-o RUN"), option("--pair")
    ("resize_to='gt'", 'weights=…', 'overwrite=True', 'run=…', 'pair')
    >>> with in_shell():
    ...     option("--resize-to gt"), option("--metric NAME", "metrics=[…]")
    ('--resize-to gt', '--metric NAME')
    """
    return flag if _PROCESS["shell"] or _IN_SHELL.get() else python or _argument(flag)


def _argument(flag: str) -> str:
    name, _, value = flag.partition(" ")
    head = _SHORT.get(name) or name.lstrip("-").replace("-", "_")
    if not value:
        return f"{head}=True" if head in _SWITCHES else head
    return f"{head}={'…' if _stands_for_any(value) else value if value.isdecimal() else repr(value)}"


def _stands_for_any(value: str) -> bool:
    return bool(re.fullmatch(r"[A-Z][A-Z0-9_,|:=]*…?", value))
