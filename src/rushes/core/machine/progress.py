"""How long work says how far it is: one shape of callback for every verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""`progress(done, total, step)`: so many of so many units of this step ("clips", "film strips") are done.

Called at the start of a step, with what an earlier run had finished, and after each unit. `total` is 0 where it is not
known. Steps come one after another.

    rushes.evaluate_clips("takes/", progress=lambda done, total, step: print(f"{step}: {done} of {total}"))
"""


Warn: TypeAlias = Callable[[str], None]
"""`warn(line)`: something that whoever asked should know, while the work goes on."""


def silent(line: str) -> None:
    """Says nothing."""


def recorded(lines: list[str], warn: Warn) -> Warn:
    """A `warn` that also keeps its lines, for the notes of the answer."""

    def both(line: str) -> None:
        lines.append(line)
        warn(line)

    return both


def no_progress(done: int, total: int, step: str) -> None:
    """Says nothing."""
