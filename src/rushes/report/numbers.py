"""The section of a run made of a few tables, the charts, then every number."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core.instrument import Instrument
from rushes.core.registry import load
from rushes.core.table import Table
from rushes.errors import MissingDependency
from rushes.report.figure import Figure
from rushes.report.section import Section, notice, number_rows
from rushes.runs import Run

MOST_NUMBERS = 1000
"""Rows of the table of every number; a sweep can have many thousands, which its file holds."""


def numbers_section(
    run: Run,
    anchor: str,
    *,
    instrument: Instrument | None = None,
    summary: str = "",
    facts: Sequence[tuple[str, str]] = (),
    grids: Sequence[Table] = (),
    people: bool = False,
) -> Section:
    """Tables, charts and numbers of one run; of an instrument that is not installed, its numbers."""
    rows, left = number_rows(run, MOST_NUMBERS)
    figures, missing = figures_of(run, instrument)
    total = len(rows) + left
    return Section(
        anchor=anchor,
        title=instrument.title if instrument else run.instrument.capitalize(),
        question=instrument.question if instrument else "",
        run=run,
        notice=notice(run),
        summary=summary if summary and total else f"{total} numbers on {len(run.subjects)} subjects.",
        facts=facts,
        grids=grids,
        figures=figures,
        figures_missing=missing,
        numbers=rows,
        numbers_left=left,
        people=people,
        definitions=list({row.definition.signature: row.definition for row in rows}.values()),
    )


def figures_of(run: Run, instrument: Instrument | None) -> tuple[Sequence[Figure], str]:
    """The run's charts; where they cannot be drawn, why: a report without charts is better than none."""
    if instrument is None or not instrument.charts:
        return (), ""
    try:
        return tuple(load(instrument.charts)(run)), ""
    except MissingDependency as error:
        return (), str(error)
    except ModuleNotFoundError as error:
        return (), f"The charts need {error.name}, which is not installed."
    except (KeyError, TypeError, ValueError, LookupError) as error:  # a run of another version may lack what is drawn
        return (), f"The charts of this run could not be drawn ({type(error).__name__}: {error})."
