"""Which numbers of a run, a result or a list are logged, and under which names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from rushes.core import Measurement
from rushes.core.selection import Numbers
from rushes.errors import InputError
from rushes.loop.names import by_name
from rushes.loop.rows import SetNumbers
from rushes.paired.clip_means import clip_means
from rushes.runs import Run, read_run

Logged: TypeAlias = "Run | Path | str | Numbers | Measurement | Iterable[Measurement]"


def run_of(what: object) -> Run | None:
    """The run, where it is one or the folder of one."""
    if isinstance(what, str | Path):
        return read_run(what)
    run = getattr(what, "run", None)
    return what if isinstance(what, Run) else run if isinstance(run, Run) else None


def named_numbers(what: Logged) -> dict[str, Measurement]:
    """Numbers by name: of a run those of its set or study, else the means over its clips."""
    if isinstance(what, SetNumbers) and what.readings:
        return dict(what.readings)
    if isinstance(what, str | Path | Run):
        run = run_of(what)
        assert run is not None
        found = by_name(_of_run(run))
    elif isinstance(what, Measurement):
        found = by_name([what])
    elif isinstance(what, Numbers):
        found = by_name(what.measurements)
    else:
        given = list(what) if isinstance(what, Iterable) else [what]
        wrong = next((item for item in given if not isinstance(item, Measurement)), None)
        if wrong is not None:
            raise InputError(f"expected a run, a result or measurements, which carry their definition; got {wrong!r}")
        found = by_name(given)
    if not found:
        raise InputError("there is no number to log")
    return found


def _of_run(run: Run) -> Iterable[Measurement]:
    """The numbers about the whole: of the sets where the run has any, of its one subject, or means over the clips."""
    whole = [entry for entry in run.entries if entry.subject.kind in ("set", "study")]
    if whole or len(run.subjects) == 1:
        return [m for entry in whole or run.entries for m in entry.measurements]
    parts = [m for entry in run.entries for m in entry.measurements if not m.at]
    return clip_means(parts)
