"""Pose: PCK under each normalisation, and the errors beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rushes.core import Measurement
from rushes.core.table import ARROWS, Cell, Table, number
from rushes.core.text import value_text
from rushes.pose.instrument import INSTRUMENT
from rushes.report.numbers import numbers_section
from rushes.report.section import ReportOptions, Section, unit_text
from rushes.runs import Entry, Run

_PER_JOINT = ("pck_joint",)


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """Per pair of pose files: PCK by normalisation and k, then the other numbers."""
    return tuple(grid for entry in run.entries for grid in (_pck_grid(entry), _other_grid(entry)) if grid.rows)


def summary(run: Run) -> str:
    """PCK under every normalisation at one k, which is the whole point: they differ."""
    return " ".join(_sentence(entry) for entry in run.entries)


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        lines.append(("Pair", f"{entry.subject.path} against {known.get('gt')}"))
        lines.append(("Frames", f"{known.get('frames')}, paired by {known.get('matched_by')}"))
        lines.append(("Skeleton", str(known.get("skeleton"))))
        lines += [("Remark", str(remark)) for remark in known.get("remarks") or ()]
    return lines


def _pcks(entry: Entry) -> dict[str, dict[int, Measurement]]:
    """Normalisation → k → PCK."""
    table: dict[str, dict[int, Measurement]] = {}
    for m in entry.measurements:
        params = dict(m.definition.params)
        if m.definition.name in ("pck", "pckh") and params.get("k", "").isdigit():
            table.setdefault(params.get("norm", m.definition.name), {})[int(params["k"])] = m
    return table


def _pck_grid(entry: Entry) -> Table:
    table = _pcks(entry)
    ks = sorted({k for row in table.values() for k in row})
    areas = {dict(m.definition.params).get("norm"): m for m in entry.measurements if m.definition.name == "pck_auc"}
    rows = [(Cell(norm), *(number(row.get(k)) for k in ks), number(areas.get(norm))) for norm, row in table.items()]
    return Table(
        title=f"{entry.subject.id}: PCK by normalisation",
        header=("normalisation", *(f"PCK@{k} ↑" for k in ks), "area ↑"),
        rows=rows,
        caption="The same predictions in every row. Only numbers of one row and column compare between runs.",
    )


def _other_grid(entry: Entry) -> Table:
    shown = ("pck", "pckh", "pck_auc", *_PER_JOINT)
    rest: Sequence[Measurement] = [m for m in entry.measurements if m.definition.name not in shown]
    rows = [
        (
            Cell(f"{m.definition.name} {ARROWS[m.definition.better]}".strip()),
            number(m),
            Cell(unit_text(m.definition)),
            Cell(m.definition.summary),
        )
        for m in rest
    ]
    return Table(title=f"{entry.subject.id}: errors", header=("metric", "value", "unit", "what it says"), rows=rows)


def _sentence(entry: Entry) -> str:
    table = _pcks(entry)
    shared = set.intersection(*(set(row) for row in table.values())) if table else set()
    if not shared:
        return f"{entry.subject.id}: no PCK could be scored."
    k = 20 if 20 in shared else min(shared)
    parts = ", ".join(f"{value_text(row[k])} by {norm}" for norm, row in table.items())
    return f"{entry.subject.id}: PCK@{k} is {parts}."
