"""What every verb shares: tables and progress on stderr or stdout, JSON alone on stdout, one line per error."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import NoReturn, ParamSpec, TypeVar

import typer

from rushes.core.canonical import canonical_json
from rushes.core.stopping import stopped_line
from rushes.errors import InputError, RushesError
from rushes.terminal.colours import bold, faint, is_coloured, paint_signals, signal
from rushes.terminal.layout import lay_out
from rushes.terminal.wrapping import printable, wrapped

P = ParamSpec("P")
R = TypeVar("R")

EXIT_BAD_INPUT = 1
EXIT_GATE = 3
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
            return command(*args, **kwargs)
        except RushesError as error:
            fail(str(error))
        except BrokenPipeError:
            raise typer.Exit(EXIT_BAD_INPUT) from None
        except KeyboardInterrupt as error:
            say(stopped_line(error))
            raise typer.Exit(130) from None
        except OSError as error:
            fail(f"{error.filename or 'system'}: {error.strerror or error}")

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


def say(message: str) -> None:
    """A remark for people: stderr, so that stdout stays clean for results."""
    print(message, file=sys.stderr)


def print_json(data: object) -> None:
    """Canonical JSON, alone on stdout."""
    print(canonical_json(data))


def window_width() -> int:
    """Columns of what is printed: COLUMNS, else the window's own, else 100 (a file, a pipe)."""
    return max(shutil.get_terminal_size((_WIDTH, 24)).columns, _NARROWEST)


def print_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int] = (),
    keep: Collection[int] = (),
    signatures: bool = True,
    caption: str = "",
) -> None:
    """A table on stdout that fits the window; the columns in `numbers` are set right. Cells are plain text.

    Reasons and other long words go under their row where there is no room beside it. Columns that have none are left
    out from the right, but for the first two and those in `keep`, and a line says how many; see `layout`. Without
    `signatures`, a last column of that name is for `-v`.
    """
    width, coloured = window_width(), is_coloured(sys.stdout)
    end = len(header) - (not signatures and header[-1].startswith("signature"))
    header, cells = header[:end], [[printable(cell) for cell in row[:end]] for row in rows]
    laid = lay_out(header, cells, width=width, numbers=numbers, keep=keep, paint=signal if coloured else str)
    if title:
        tell(title, paint=bold)
    print("\n".join(laid.lines))
    if laid.left_out:
        many = len(laid.left_out)
        names = ", ".join(" ".join(name.split()) for name in laid.left_out)
        tell(f"{many} more column{'s' * (many > 1)} ({names}): --json or a wider window")
    if caption:
        tell(caption)
    print()


def tell(text: str, *, hang: int = 2, paint: Callable[[str], str] = str) -> None:
    """A sentence on stdout, broken between words where the window ends."""
    brush = paint if is_coloured(sys.stdout) else str
    for line in wrapped(printable(text), window_width(), hang=hang):
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
        tell("Signatures: -v shows them; rushes metrics NAME explains one.", paint=faint)
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
