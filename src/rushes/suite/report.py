"""`rushes report` in Python: runs into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core.files import replacing
from rushes.core.progress import Progress, no_progress
from rushes.core.registry import load
from rushes.core.showing import brief
from rushes.errors import InputError
from rushes.instruments import INSTRUMENTS
from rushes.remote.address import is_remote
from rushes.remote.transfer import upload_on_exit
from rushes.report.numbers import numbers_section
from rushes.report.page import render_page
from rushes.report.section import ReportOptions, Section
from rushes.report.verdict import Verdict
from rushes.runs import Run, read_run
from rushes.suite.report_verdict import report_verdict
from rushes.workers.local import cpu_count

STRIPS = 100
"""Clips per run that get a film strip unless told otherwise, worst first: each has to be decoded again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A written report."""

    __repr__ = brief

    path: Path | str
    """Where it was written, or its address."""
    bytes: int
    found: str
    """What it says first, in a sentence or two."""
    runs: tuple[Run, ...]
    verdict: Verdict
    """What it opens with."""


def write_report(
    runs: Run | Path | str | Iterable[Run | Path | str],
    out: Path | str,
    *,
    title: str = "",
    lead: str = "",
    made_by: str = "",
    strips: int = STRIPS,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Write one run or several, read or by directory, as one HTML file that opens offline.

        rushes.write_report(run, "report.html")
        rushes.write_report(["runs/monday", "runs/tuesday"], "report.html", strips=0)

    Runs that measured the same clips are compared: the page opens with what is better, worse and cannot be told. `lead`
    is a sentence above the verdict, `made_by` the command line that the page names at its end. `strips` is for how many
    clips of a run to take key frames, worst first; 0 leaves them out. A run that is still going gives what is finished
    so far. The same runs and clips give the same bytes. Raises `RunError` for a folder that is no run, or is from a
    newer version.
    """
    given = [runs] if isinstance(runs, (Run, Path, str)) else runs
    opened = tuple(run if isinstance(run, Run) else read_run(run) for run in given)
    if not opened:
        raise InputError("expected at least one run directory; got none")
    place = None if is_remote(out) else Path(out)
    options = ReportOptions(strips=strips, jobs=jobs or cpu_count(), progress=progress, out=place)
    sections = [_section(run, f"run-{number}", options) for number, run in enumerate(opened, 1)]
    verdict = report_verdict(sections)
    html = render_page(sections, title=title or _title(opened), lead=lead, verdict=verdict, made_by=made_by)
    try:
        with upload_on_exit(out) as target, replacing(target) as page:
            page.write(html)
    except OSError as error:
        raise InputError(f"{out}: cannot write the report ({error.strerror or error})") from None
    return Report(
        path=out if is_remote(out) else Path(out),
        bytes=len(html.encode()),
        found=" ".join(filter(None, (lead, verdict.headline))),
        runs=opened,
        verdict=verdict,
    )


def _title(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(run.path.resolve().name for run in runs))
    return f"Report on {names[0]}" if len(names) == 1 else f"Report on {len(runs)} runs"


def _section(run: Run, anchor: str, options: ReportOptions) -> Section:
    if run.instrument not in INSTRUMENTS:
        return numbers_section(run, anchor)
    made: Section = load(INSTRUMENTS[run.instrument].section)(run, anchor, options)
    return made
