"""The tables that a run's section of a report has, for its page."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from rushes.core.table import Table
from rushes.instruments import INSTRUMENTS
from rushes.report.section import ReportOptions
from rushes.runs import Run

_MOST_SECTIONS = 200
"""Subjects up to which a whole section is made for its tables."""


def report_tables(run: Run) -> tuple[str, Sequence[Table]]:
    """What the run's section of a report says in words, and its tables; nothing for an instrument not installed.

    A run of another version may lack what a table is made of: then there is none, and the numbers stay reachable.
    """
    if run.instrument not in INSTRUMENTS or run.instrument == "clip" or not run.subjects:
        return "", ()  # a run of clips has a row for each, and their review signals
    section = import_module(INSTRUMENTS[run.instrument].section.partition(":")[0])
    try:
        if hasattr(section, "grids"):
            return str(section.summary(run)), tuple(section.grids(run))
        if len(run.subjects) > _MOST_SECTIONS:
            return "", ()
        made = section.section(run, "run", ReportOptions(strips=0))
        return made.summary, tuple(made.grids)
    except (KeyError, TypeError, ValueError, LookupError):
        return "", ()
