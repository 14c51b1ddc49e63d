"""Distribution: each distance under each protocol, with N, interval and what it was computed with."""

from __future__ import annotations

from typing import Any

from rushes.core.table import Table
from rushes.core.text import value_text
from rushes.distribution.instrument import INSTRUMENT
from rushes.distribution.sensitivity import is_departure
from rushes.distribution.tables import (
    DistanceRow,
    distance_rows,
    distances_table,
    protocols_table,
    sensitivity_table,
)
from rushes.report.numbers import numbers_section
from rushes.report.section import ReportOptions, Section
from rushes.runs import Run

_MOST_NAMED = 2
"""Distances named in a sentence; the table has them all."""


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """The distances, what other constants would have made of them, and the protocols they were computed under."""
    rows = _rows(run)
    numbers = [m for entry in run.entries for m in entry.measurements]
    exchanged = (sensitivity_table(numbers),) if any(is_departure(m) for m in numbers) else ()
    return (distances_table(rows), *exchanged, protocols_table(rows)) if rows else ()


def summary(run: Run) -> str:
    """The distances, each with its protocol and N."""
    rows = _rows(run)
    parts = [_sentence(row) for row in rows]
    if len(parts) > _MOST_NAMED:
        parts[_MOST_NAMED:] = [f"{len(parts) - _MOST_NAMED} more are in the table"]
    random = any(row.is_random for row in rows)
    warning = " The weights are random, so these numbers compare only with themselves." if random else ""
    return ("; ".join(parts) + "." + warning) if parts else "No distance could be computed."


def _sentence(row: DistanceRow) -> str:
    sizes = f"{row.setting('n_gen')} against {row.setting('n_gt')} clips"
    return f"{row.metric} under {row.setting('protocol')} is {value_text(row.value)} ({sizes})"


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for subject in run.subjects:
        known: Any = subject.facts
        left_out = len(known.get("excluded") or ())
        note = f", {left_out} left out" if left_out else ""
        lines.append(
            (str(known.get("side", subject.id)).capitalize(), f"{subject.path}: {known.get('clips')} clips{note}")
        )
    return lines


def _rows(run: Run) -> list[DistanceRow]:
    return distance_rows(m for entry in run.entries for m in entry.measurements)
