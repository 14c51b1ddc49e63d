"""What every verb shares: tables and progress on stderr or stdout, JSON alone on stdout, one line per error."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import NoReturn, ParamSpec, TypeVar

import typer

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.interrupt import Terminated, stopped_line
from rushes.core.machine.memory import ran_out_of_memory
from rushes.core.table import SIGNATURE, Column, Table, word_table
from rushes.core.words.options import in_shell
from rushes.present.terminal.colours import bold, faint, is_coloured, paint_signals, signal
from rushes.present.terminal.layout import lay_out
from rushes.present.terminal.wrapping import printable, wrapped

P = ParamSpec("P")
R = TypeVar("R")

EXIT_BAD_INPUT = 1
EXIT_GATE = 3
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
NO_MEMORY = "ran out of memory; close other programs, or raise the limit (ulimit -v, the scheduler's)"
_WIDTH = 100
"""Columns of what goes to a file or a pipe, where COLUMNS does not say otherwise."""
_NARROWEST = 40
"""Less than this is taken for a window whose width is not known yet."""


def one_line_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Show a `RushesError` as one line on stderr and exit 1; no traceback reaches a user."""

    @wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _refuse_addresses(kwargs.values())
            with in_shell():
                return command(*args, **kwargs)
        except RushesError as error:
            fail(str(error))
        except BrokenPipeError:
            raise typer.Exit(EXIT_BAD_INPUT) from None
        except KeyboardInterrupt as error:
            say(stopped_line(error))
            raise typer.Exit(EXIT_TERMINATED if isinstance(error, Terminated) else EXIT_INTERRUPTED) from None
        except OSError as error:
            fail(f"{error.filename or 'system'}: {error.strerror or error}")
        except Exception as error:
            if not ran_out_of_memory(error):
                raise
            fail(NO_MEMORY)

    return wrapper


def _refuse_addresses(values: Iterable[object]) -> None:
    """A verb that takes a `Path` has no use for s3://bucket, which as a path is the folder `s3:` here."""
    for value in values:
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(path, Path) and re.fullmatch(r"(s3|gs|gcs|https?):", path.parts[0] if path.parts else ""):
                raise InputError(f"{path.parts[0]}//…: expected a path; this works on local files only")


def fail(message: str) -> NoReturn:
    """Print one error line and leave with exit code 1."""
    print(f"rushes: {' '.join(message.split())}", file=sys.stderr)
    raise typer.Exit(EXIT_BAD_INPUT)


def say(*messages: str) -> None:
    """Remarks for people, a line each: stderr, so that stdout stays clean for results."""
    for message in messages:
        print(message, file=sys.stderr)


def print_json(data: object, *, flush: bool = False) -> None:
    """Canonical JSON, alone on stdout."""
    print(canonical_json(data), flush=flush)


def window_width() -> int:
    """Columns of what is printed: COLUMNS, else the window's own, else 100 (a file, a pipe)."""
    return max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)


def print_table(table: Table, *, signatures: bool = True, caption: bool = False) -> None:
    """A table on stdout that fits the window, its columns set by their kinds. Cells are plain text.

    Reasons and other long words go under their row where there is no room beside it. Columns that have none are left
    out from the right, but for the first two and those to keep, and a line says how many; see `layout`. Without
    `signatures`, columns of that kind are for `-v`.
    """
    shown = [place for place, column in enumerate(table.columns) if signatures or column.kind is not SIGNATURE]
    columns = [table.columns[place] for place in shown]
    laid = lay_out(
        [column.head for column in columns],
        [[printable(row[place].text) for place in shown] for row in table.rows],
        width=window_width(),
        numbers=[place for place, column in enumerate(columns) if column.kind.right],
        keep=[place for place, column in enumerate(columns) if column.keep],
        paint=signal if is_coloured(sys.stdout) else str,
    )
    if table.title:
        tell(table.title, paint=bold)
    print("\n".join(laid.lines))
    if laid.left_out:
        many = len(laid.left_out)
        names = ", ".join(" ".join(name.split()) for name in laid.left_out)
        tell(f"{many} more column{'s' * (many > 1)} ({names}): --json or a wider window")
    if caption and table.caption:
        tell(table.caption)
    print()


def print_words(title: str, columns: Sequence[Column | str], rows: Iterable[Sequence[str]]) -> None:
    """A table of plain words on stdout."""
    print_table(word_table(title, columns, rows))


def tell(*texts: str, hang: int = 2, paint: Callable[[str], str] = str) -> None:
    """Sentences on stdout, each broken between words where the window ends."""
    brush = paint if is_coloured(sys.stdout) else str
    for line in (line for text in texts for line in wrapped(printable(text), window_width(), hang=hang)):
        print(brush(line))


def print_text(text: str) -> None:
    """Lines that were made elsewhere, each broken between words where the window ends; signals have their colours."""
    brush = paint_signals if is_coloured(sys.stdout) else str
    for line in text.splitlines():
        columns = re.match(r".*  (?=\S)|", line)  # what goes on belongs under the last column
        hang = columns.end() if columns and columns.end() < window_width() // 2 else 2
        for part in wrapped(printable(line), window_width(), hang=hang):
            print(brush(part))


def show_signatures(signatures: Iterable[str], *, verbose: bool) -> None:
    """Under the numbers, how each was measured: in full with `-v`, else one line that says where."""
    if not verbose:
        tell("Use -v for signatures, rushes metrics NAME for definitions.", paint=faint)
        return
    print("Signatures:")
    for signature in dict.fromkeys(signatures):
        for line in wrapped(signature, window_width() - 2, hang=2):
            print(f"  {line}")


def next_line(*words: str) -> None:
    """The one command that is most useful now, as it can be pasted: `next_line("report", run)`."""
    print(f"Next: {program()} {' '.join(quote(word) for word in words)}")


def program() -> str:
    """How this program is called from the shell it was called from.

    "rushes" where that is on the path, else the path it was called by, such as .venv/bin/rushes.
    """
    called, found = sys.argv[0] if sys.argv else "", shutil.which("rushes")
    if os.path.basename(called) != "rushes":  # python -m rushes, or another program that uses Rushes
        return "rushes" if found else "python -m rushes"
    if os.sep not in called or (found is not None and os.path.realpath(found) == os.path.realpath(called)):
        return "rushes"
    return quote(os.path.relpath(called) if not os.path.relpath(called).startswith("..") else called)
