"""What every verb shares: tables and progress on stderr or stdout, JSON alone on stdout, one line per error."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Literal, NoReturn, ParamSpec, TypeVar

import typer

from rushes.core.canonical import canonical_json
from rushes.core.stopping import stopped_line
from rushes.errors import InputError, RushesError

P = ParamSpec("P")
R = TypeVar("R")

EXIT_BAD_INPUT = 1
EXIT_GATE = 3
_WIDTH = 120
"""Columns of a table that goes to a file or a pipe."""


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


def print_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()
) -> None:
    """A table on stdout; the columns in `numbers` are set right. Cells are plain text, never markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for column, name in enumerate(header):
        is_number = column in numbers
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(name, justify=justify, overflow="fold", no_wrap=is_number)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)
