"""The progress bars of a long command, on stderr while that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rushes.core.progress import Progress, no_progress


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A `Progress` that draws one bar per step, with rate and time left; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    class Rate(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "–/s")

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        Rate(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, rich.TaskID] = {}

        def progress(done: int, total: int, step: str) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total or None)
            bars.update(tasks[step], completed=done, total=total or None)

        yield progress
