"""`rushes report` in Python: runs into one self-contained HTML file.

Runs of the same clips are compared first, everything else is told side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rushes.compare.output import write_out
from rushes.compare.runs.many import MOST_RUNS, RunsComparison, compare_all
from rushes.compare.runs.page.page import charts
from rushes.compare.summaries import comparison_verdict
from rushes.core.answer import Answer, told
from rushes.core.errors import InputError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.registry import load
from rushes.instruments.catalogue import instrument_of
from rushes.present.pages.page import opening, render_page
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.present.pages.subjects import row_link
from rushes.present.verdict.verdict import Finding, Verdict
from rushes.storage.remote.address import is_remote, joined
from rushes.storage.runs import Run, read_run
from rushes.workers.engine import worker_count

STRIPS = 100
"""Clips per run that get a film strip unless told otherwise, worst first: each has to be decoded again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Answer):
    """A written report."""

    __repr__ = told

    path: Path | str
    """Where it was written, or its address."""
    bytes: int
    found: str
    """What it says first, in a sentence or two."""
    runs: tuple[Run, ...]
    verdict: Verdict
    """What it opens with."""

    @property
    def summary(self) -> str:
        """What the page says first."""
        return self.found

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside it, run by run."""
        return tuple(dict.fromkeys(note for run in self.runs for note in run.notes))

    def _items(self) -> tuple[Run, ...]:
        return self.runs

    def _rows(self) -> list[dict[str, object]]:
        several = len(self.runs) > 1
        return [({"run": run.place} if several else {}) | dict(row) for run in self.runs for row in run._rows()]


def write_report(
    runs: Run | Path | str | Iterable[Run | Path | str],
    out: Path | str | None = None,
    *,
    title: str = "",
    lead: str = "",
    made_by: str = "",
    strips: int = STRIPS,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Write one run or several as one HTML file that opens offline.

        rushes.report("runs/monday", "report.html")
        rushes.report(["runs/monday", "runs/tuesday"], "report.html", strips=0)

    Args:
        runs: runs, read or by directory. If they measured the same clips, the page opens with what is better and
            worse.
        out: the file; by default `report.html` in the run's directory.
        title: heading of the page.
        lead: a sentence above the answer.
        made_by: the command line that the page names at its end.
        strips: for how many clips of a run to take pictures, worst first; 100 by default, 0 for none.
        jobs: worker processes that take the pictures; by default one per core.
        progress: called while it works.

    Returns:
        A `Report`: the page's path, size and answer. The same runs and clips give the same bytes. A run that is still
        going has what is finished so far.

    Raises:
        RunError: a folder is not a run, or a newer version wrote it.
    """
    given = [runs] if isinstance(runs, (Run, Path, str)) else runs
    opened = tuple(run if isinstance(run, Run) else read_run(run) for run in given)
    if not opened:
        raise InputError("expected at least one run directory; got none")
    target = out if out is not None else _beside(opened)
    place = None if is_remote(target) else Path(target)
    options = ReportOptions(strips=strips, jobs=jobs or worker_count(), progress=progress, out=place)
    sections = [_section(run, f"run-{number}", options) for number, run in enumerate(opened, 1)]
    verdict = report_verdict(sections)
    html = render_page(sections, title=title or _title(opened), lead=lead, verdict=verdict, made_by=made_by)
    return Report(
        path=write_out(target, html, "report"),
        bytes=len(html.encode()),
        found=" ".join(filter(None, (lead, verdict.headline))),
        runs=opened,
        verdict=verdict,
    )


report = write_report
"""Its name as a verb."""


def _beside(runs: Sequence[Run]) -> Path | str:
    """report.html in the run, or here for several."""
    if len(runs) > 1:
        return Path("report.html")
    place = runs[0].place
    return joined(place, "report.html") if is_remote(place) else Path(place) / "report.html"


def _title(runs: Sequence[Run]) -> str:
    names = list(dict.fromkeys(run.path.resolve().name for run in runs))
    return f"Report on {names[0]}" if len(names) == 1 else f"Report on {len(runs)} runs"


def _section(run: Run, anchor: str, options: ReportOptions) -> Section:
    instrument = instrument_of(run)
    if instrument is None or not instrument.section:
        return numbers_section(run, anchor, instrument=instrument)
    made: Section = load(instrument.section)(run, anchor, options)
    return made


_MOST_CLIPS = 20_000
"""Clips of all runs up to which a report compares them; beyond, `rushes compare` is asked for it."""


def report_verdict(sections: Sequence[Section]) -> Verdict:
    """The strip of a report.

    Of runs with review signals that share clips, every one against the first, with a sentence for each run's signals;
    else what `opening` makes of them.
    """
    told = opening(sections)
    judged = [section for section in sections if section.verdict is not None]
    found = _compared(judged)
    if found is None:
        return told
    pictures = {name: picture for section in judged for name, picture in section.pictures.items()}
    links = {name: row_link(judged[-1].anchor, name) for name in found.comparisons[-1].paired}
    strip = comparison_verdict(found, pictures=pictures, links=links, chart=charts(found)[0])
    signals = [Finding(title=one.name, text=one.summary, link=f"#{one.anchor}") for one in judged]
    runs = " ".join(str(section.run.place) for section in judged)
    return replace(
        strip,
        findings=(*strip.findings, *signals, *told.findings),
        next=f"the clips of both side by side: rushes compare {runs} -o compare.html",
    )


def _compared(judged: Sequence[Section]) -> RunsComparison | None:
    """The runs against the first; None where they do not share clips, or are too many."""
    runs = [section.run for section in judged]
    if not 2 <= len(runs) <= MOST_RUNS or sum(len(run.subjects) for run in runs) > _MOST_CLIPS:
        return None
    try:
        return compare_all(runs)
    except InputError:
        return None
