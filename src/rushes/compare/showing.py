"""`.show()` of every answer: its page in the browser, or its tables where it has none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rushes.compare.report import write_report
from rushes.compare.runs.many import RunsComparison, compare_all
from rushes.compare.runs.page.page import write_comparison
from rushes.compare.runs.results import RunComparison
from rushes.core.machine.browser import open_page
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run

_STRIPS = 24
"""Clips whose film strips a page that is only looked at waits for."""


def show(answer: Any, *, opened: Callable[[Path], object] = open_page) -> Path | None:
    """Open the answer's page and print its path; print its sentence and tables where it has no page."""
    page = _page(answer)
    if page is None:
        print(answer)
        for table in answer._tables():
            print(f"\n{table}")
        return None
    opened(page)
    print(page)
    return page


def _page(answer: Any) -> Path | None:
    written = getattr(answer, "path", None)
    if not isinstance(answer, Run) and written is not None and Path(written).suffix == ".html":
        return None if is_remote(written) else Path(written)
    if isinstance(answer, (RunsComparison, RunComparison)):
        return _compared(answer)
    run = answer if isinstance(answer, Run) else getattr(answer, "run", None)
    return None if run is None else _report(run)


def _compared(found: RunsComparison | RunComparison) -> Path:
    every = found if isinstance(found, RunsComparison) else compare_all((found.first, found.second))
    page = Path(tempfile.mkdtemp(prefix="rushes-")) / "compare.html"
    return Path(write_comparison(every, page).path)


def _report(run: Run | Path | str) -> Path:
    """The run's report, in its folder; of a run in a store, in a folder of its own here."""
    place = run.place if isinstance(run, Run) else run
    folder = Path(tempfile.mkdtemp(prefix="rushes-")) if is_remote(place) else Path(place)
    return Path(write_report(run, folder / "report.html", strips=_STRIPS).path)
