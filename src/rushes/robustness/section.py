"""Robustness: per axis and value, how far the answer and its reasons hold."""

from __future__ import annotations

from typing import Any

from rushes.core import Measurement
from rushes.core.table import Cell, Table, number
from rushes.report.numbers import numbers_section
from rushes.report.section import ReportOptions, Section
from rushes.robustness.instrument import INSTRUMENT
from rushes.robustness.measurements import NOTHING
from rushes.runs import Entry, Run

_COLUMNS = {
    "esi": "ESI ↑",
    "justification_drift": "drift ↓",
    "confidence_stability": "CSI ↑",
    "entropy_drift": "EDM ↓",
}


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """One table per sweep: a row per axis and per value of it."""
    return tuple(_grid(entry) for entry in run.entries)


def summary(run: Run) -> str:
    """Where the answer holds least, per sweep."""
    return " ".join(_sentence(entry) for entry in run.entries)


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        baseline = known.get("baseline") or {}
        lines.append(("Sweep", f"{entry.subject.id}: {known.get('runs')} of {known.get('declared_runs')} runs"))
        lines.append(("Baseline", f"{baseline.get('run')}, which answers “{baseline.get('answer')}”"))
        if known.get("failed_runs"):
            lines.append(("Failed", f"{known['failed_runs']} runs in which the judge gave no answer"))
    return lines


def _by_place(entry: Entry) -> dict[tuple[str, str], dict[str, Measurement]]:
    """(axis, value) → metric → measurement, single axes only; value "" is the whole axis."""
    places: dict[tuple[str, str], dict[str, Measurement]] = {}
    for m in entry.measurements:
        params = dict(m.definition.params)
        axis = params.get("axis", ",")
        if m.definition.name in _COLUMNS and "," not in axis:
            places.setdefault((axis, params.get("value", "")), {}).setdefault(m.definition.name, m)
    return places


def _grid(entry: Entry) -> Table:
    places = _by_place(entry)
    used = [name for name in _COLUMNS if any(name in row for row in places.values())]
    rows = [
        (
            Cell(axis),
            Cell(_label(entry, axis, value)),
            *(number(row.get(name)) for name in used),
            Cell(str(next(iter(row.values())).count)),
        )
        for (axis, value), row in places.items()
    ]
    return Table(
        title=f"{entry.subject.id}: stability per axis value",
        header=("axis", "value", *(_COLUMNS[name] for name in used), "runs"),
        rows=rows,
        caption="ESI is the share of runs that answer as the baseline does; drift is how far their reasons moved.",
    )


def _label(entry: Entry, axis: str, code: str) -> str:
    """The value as it was declared."""
    axes: Any = entry.subject.facts.get("axes") or {}
    declared = dict(axes.get(axis) or ())
    return "all values" if not code else str(declared.get("" if code == NOTHING else code) or code)


def _sentence(entry: Entry) -> str:
    scores = [
        (float(row["esi"].value), axis, _label(entry, axis, value))
        for (axis, value), row in _by_place(entry).items()
        if value and "esi" in row and row["esi"].value is not None
    ]
    if not scores:
        return f"{entry.subject.id}: no axis could be scored."
    worst, axis, value = min(scores, key=lambda score: score[0])
    if worst == 1:
        return f"In {entry.subject.id} the answer holds at every value of every axis."
    return f"In {entry.subject.id} the answer holds least at {axis} {value}, where {worst:.0%} of the runs keep it."
