"""Robustness: per axis and value, how far the answer and its reasons hold."""

from __future__ import annotations

from typing import Any

from rushes.core.table import Table
from rushes.instruments.robustness.definitions.pools import ESI_DIFFERENCE
from rushes.instruments.robustness.instrument import INSTRUMENT
from rushes.instruments.robustness.pooling import comparison_table, flip_table, pool_table
from rushes.instruments.robustness.seed.sweep_dir import ONE_AT_A_TIME
from rushes.instruments.robustness.show.tables import along_axes, effects_table, stability_table
from rushes.present.pages.section import ReportOptions, Section, numbers_section
from rushes.storage.runs import Entry, Run


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """Per sweep a row per axis and per value of it, and a row per axis by itself where there are several."""
    tables = [table for entry in run.entries for table in _tables(entry)]
    return tuple(table for table in tables if table.rows)


def _tables(entry: Entry) -> tuple[Table, ...]:
    name, numbers = entry.subject.id, entry.measurements
    if entry.subject.kind == "sweep":
        return (
            stability_table(numbers, title=f"{name}: stability per axis value"),
            effects_table(numbers, title=f"{name}: each axis by itself, the others at baseline"),
        )
    if any(m.name == ESI_DIFFERENCE.name for m in numbers):
        return (comparison_table(numbers),)
    return pool_table(numbers), flip_table(numbers)


def tables(run: Run) -> tuple[str, tuple[Table, ...]]:
    """What the run's own page has of the section."""
    return summary(run), grids(run)


def summary(run: Run) -> str:
    """Where the answer holds least, per sweep."""
    return " ".join(sentence for entry in run.entries if (sentence := _sentence(entry)))


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        if entry.subject.kind != "sweep":
            lines += [("Remark", remark) for remark in known.get("remarks") or []]
            continue
        baseline = known.get("baseline") or {}
        lines.append(("Sweep", f"{entry.subject.id}: {known.get('runs')} of {known.get('declared_runs')} runs"))
        lines.append(("Baseline", f"{baseline.get('run')}, which {_says(baseline.get('answer'))}"))
        if known.get("failed_runs"):
            lines.append(
                ("Failed", f"{known['failed_runs']} runs in which the judge gave no answer; they are left out")
            )
        lines += [("Reason", f"{count} ×: {reason}") for reason, count in known.get("failures") or []]
        lines += [("Remark", remark) for remark in known.get("remarks") or []]
    return lines


def _says(answer: object) -> str:
    return "has no answer: the judge failed" if answer is None else f"answers “{answer}”"


def _sentence(entry: Entry) -> str:
    """ "" where the run has no ESI at a value, as one of format 1."""
    known: Any = entry.subject.facts
    if (known.get("baseline") or {"answer": ""}).get("answer", "") is None:
        return f"{entry.subject.id} has no result: the judge failed in the baseline run."
    name = "esi_one_axis" if known.get("design") == ONE_AT_A_TIME else "esi"
    scores = [
        (float(readings[name].value or 0), axis, value)
        for (axis, value), readings in along_axes(entry.measurements).items()
        if value is not None and name in readings and readings[name].value is not None
    ]
    if not scores:
        return ""
    worst, axis, value = min(scores, key=lambda score: score[0])
    failed = f"; the judge failed in {known['failed_runs']} of {known['runs']} runs" if known.get("failed_runs") else ""
    if worst == 1:
        where = "wherever the judge answered" if failed else "at every value of every axis"
        return f"In {entry.subject.id} the answer holds {where}{failed}."
    where = f"{axis} {value}, where {worst:.0%} of the runs keep it"
    return f"In {entry.subject.id} the answer holds least at {where}{failed}."
