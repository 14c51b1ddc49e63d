"""The progress bars of a long command, on stderr while that is a terminal."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from rushes.core.machine.progress import Progress, no_progress

_KILOBYTES = " (kB)"
"""How the name of a step ends that counts thousands of bytes."""


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A `Progress` that draws one bar per step, with rate and time left; nothing where stderr is no terminal.

    The first line stands there at once, before any step has begun: large libraries take seconds to load.
    """
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.text import Text

    steps: dict[int, str] = defaultdict(str)

    class Rate(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            return Text("" if task.total is None else rate_text(task.speed, steps[task.id]))

    class Count(rich.ProgressColumn):
        def render(self, task: rich.Task) -> Text:
            total = None if task.total is None else int(task.total)
            return Text(count_text(int(task.completed), total, steps[task.id]))

    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(24), Count(), Rate(), rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        start = bars.add_task("starting", total=None)
        tasks: dict[str, rich.TaskID] = {}

        def progress(done: int, total: int, step: str) -> None:
            if step not in tasks:
                bars.update(start, visible=False)
                tasks[step] = bars.add_task(step.removesuffix(_KILOBYTES), total=total or None)
                steps[tasks[step]] = step
            bars.update(tasks[step], completed=done, total=total or None)

        yield progress


@contextmanager
def shown_progress(given: Progress | None = None) -> Iterator[Progress]:
    """What a long call in Python shows by default: bars on a terminal, a line per step in a notebook, else nothing."""
    if given is not None:
        yield given
        return
    if "ipykernel" not in sys.modules or sys.stderr.isatty():
        with progress_bars() as progress:
            yield progress
        return
    last: dict[str, int] = {}

    def lines(done: int, total: int, step: str) -> None:
        tenth = 10 * done // total if total else 0
        if last.get(step) != tenth:
            last[step] = tenth
            print(f"{step.removesuffix(_KILOBYTES)}: {count_text(done, total or None, step)}", file=sys.stderr)

    yield lines


def rate_text(speed: float | None, step: str = "") -> str:
    """Units a second: one decimal below 100, none from there on; of a download the megabytes.

    >>> rate_text(None), rate_text(3.14159), rate_text(3423.3), rate_text(2500.0, "face.whl (kB)")
    ('–/s', '3.1/s', '3423/s', '2.5 MB/s')
    """
    if speed is None:
        return "–/s"
    if step.endswith(_KILOBYTES):
        return f"{speed / 1000:.1f} MB/s"
    return f"{speed:.1f}/s" if speed < 100 else f"{speed:.0f}/s"


def count_text(done: int, total: int | None, step: str = "") -> str:
    """How far it is.

    >>> count_text(3, 8), count_text(3, None), count_text(2500, 10_000, "face.whl (kB)")
    ('3/8', '3', '2.5/10.0 MB')
    """
    if step.endswith(_KILOBYTES) and total is not None:
        return f"{done / 1000:.1f}/{total / 1000:.1f} MB"
    return f"{done}" if total is None else f"{done}/{total}"
