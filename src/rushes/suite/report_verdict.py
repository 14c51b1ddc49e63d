"""What a report opens with: runs of the same clips are compared, everything else is told side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rushes.errors import InputError, MissingDependency
from rushes.report.figure import Figure
from rushes.report.page import opening
from rushes.report.section import Section
from rushes.report.subjects import row_link
from rushes.report.verdict import Finding, Verdict
from rushes.suite.compare_many import MOST_RUNS, RunsComparison, compare_all
from rushes.suite.compare_page_chart import forest
from rushes.suite.verdict_strips import comparison_verdict

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
    strip = comparison_verdict(found, pictures=pictures, links=links, chart=_chart(found))
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


def _chart(found: RunsComparison) -> tuple[Figure, Figure] | None:
    try:
        return forest(found)
    except MissingDependency:
        return None
