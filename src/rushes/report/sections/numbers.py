"""The section of any run that is not about clips: a few tables, the charts, then every number."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from rushes.errors import MissingDependency
from rushes.report.figure import Figure
from rushes.report.sections.section import Grid, Section, notice, number_rows
from rushes.store import Run

MOST_NUMBERS = 1000
"""Rows of the table of every number; a sweep can have many thousands, which its file holds."""
INSTRUMENTS = ("distribution", "pose", "preference", "robustness")


class Instrument(Protocol):
    """What a module of this folder offers for its instrument."""

    TITLE: str
    QUESTION: str

    def grids(self, run: Run) -> tuple[Grid, ...]: ...

    def found(self, run: Run) -> str: ...

    def facts(self, run: Run) -> list[tuple[str, str]]: ...


def numbers_section(run: Run, anchor: str) -> Section:
    """Tables, charts and numbers of one run; an instrument this version does not know still shows its numbers."""
    known = _instrument(run.instrument)
    rows, left = number_rows(run, MOST_NUMBERS)
    figures, missing = figures_of(run)
    total = len(rows) + left
    return Section(
        anchor=anchor,
        title=known.TITLE if known else run.instrument.capitalize(),
        question=known.QUESTION if known else "",
        run=run,
        notice=notice(run),
        found=known.found(run) if known and total else f"{total} numbers on {len(run.subjects)} subjects.",
        facts=known.facts(run) if known else (),
        grids=known.grids(run) if known else (),
        figures=figures,
        figures_missing=missing,
        numbers=rows,
        numbers_left=left,
        definitions=list({row.definition.signature: row.definition for row in rows}.values()),
    )


def _instrument(name: str) -> Instrument | None:
    if name not in INSTRUMENTS:
        return None
    return cast(Instrument, import_module(f"rushes.report.sections.{name}"))


def figures_of(run: Run) -> tuple[Sequence[Figure], str]:
    """The run's charts; where they cannot be drawn, why: a report without charts is better than none."""
    if run.instrument not in INSTRUMENTS:
        return (), ""
    try:
        module = import_module(f"rushes.report.charts.{run.instrument}")
        return tuple(module.charts(run)), ""
    except MissingDependency as error:
        return (), str(error)
    except ModuleNotFoundError as error:
        return (), f"The charts need {error.name}, which is not installed."
    except (KeyError, TypeError, ValueError, LookupError) as error:  # a run of another version may lack what is drawn
        return (), f"The charts of this run could not be drawn ({type(error).__name__}: {error})."
