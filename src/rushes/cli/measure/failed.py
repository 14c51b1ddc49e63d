"""What `rushes clip` and `rushes fidelity` say of metrics of other packages that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from rushes.present.terminal.console import EXIT_BAD_INPUT, say

if TYPE_CHECKING:
    from rushes.storage.runs import Run


def say_failed(run: Run, *, strict: bool) -> None:
    """A line per metric that failed; with `strict`, leave with 1 after them."""
    from rushes.storage.integrity.failed_metrics import failed_metrics

    failed = failed_metrics(run)
    say(*(one.text for one in failed))
    if failed and strict:
        raise typer.Exit(EXIT_BAD_INPUT)
