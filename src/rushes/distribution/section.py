"""Distribution: each distance under each protocol, with N, interval and what it was computed with."""

from __future__ import annotations

from typing import Any

from rushes.core import Measurement
from rushes.core.table import Cell, Table, number
from rushes.core.text import value_text
from rushes.distribution.instrument import INSTRUMENT
from rushes.report.numbers import numbers_section
from rushes.report.section import ReportOptions, Section
from rushes.runs import Run

_METRICS = ("fvd", "fid-vid", "kvd")
_BESIDE = {"low": "95 % from", "high": "to", "extrapolated": "at infinite N"}
_MOST_SAID = 2
"""Distances named in a sentence; the table has them all."""
_PROTOCOL = ("backbone", "feature", "frames", "size", "resize", "normalise", "precision", "weights")


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """The distances, then the protocols they were computed under."""
    rows = _by_protocol(run)
    return tuple(grid for grid in (_distances(rows), _protocols(rows)) if grid.rows)


def summary(run: Run) -> str:
    """The distances, each with its protocol and N."""
    rows = _by_protocol(run)
    parts = [_sentence(metric, protocol, row["value"]) for (metric, protocol), row in rows.items()]
    if len(parts) > _MOST_SAID:
        parts[_MOST_SAID:] = [f"{len(parts) - _MOST_SAID} more are in the table"]
    random = any("weights:random" in row["value"].signature for row in rows.values())
    warning = " The weights are random, so these numbers compare only with themselves." if random else ""
    return ("; ".join(parts) + "." + warning) if parts else "No distance could be computed."


def _sentence(metric: str, protocol: str, value: Measurement) -> str:
    params = dict(value.definition.params)
    sizes = f"{params.get('n_gen')} against {params.get('n_gt')} clips"
    return f"{metric} under {protocol} is {value_text(value)} ({sizes})"


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


def _by_protocol(run: Run) -> dict[tuple[str, str], dict[str, Measurement]]:
    """(metric, protocol) → "value", "low", "high", "extrapolated" → measurement; only those with a value to show."""
    rows: dict[tuple[str, str], dict[str, Measurement]] = {}
    for entry in run.entries:
        for m in entry.measurements:
            metric, _, kind = m.definition.name.partition("_")
            if metric in _METRICS:
                place = (metric, dict(m.definition.params).get("protocol", "own"))
                rows.setdefault(place, {})[kind or "value"] = m
    return {place: row for place, row in rows.items() if "value" in row}


def _distances(rows: dict[tuple[str, str], dict[str, Measurement]]) -> Table:
    beside = [kind for kind in _BESIDE if any(kind in row for row in rows.values())]
    lines = []
    for (metric, protocol), row in rows.items():
        params = dict(row["value"].definition.params)
        sizes = (Cell(params.get("n_gen", "–")), Cell(params.get("n_gt", "–")), Cell(params.get("d", "–")))
        lines.append(
            (Cell(metric), Cell(protocol), number(row["value"]), *(number(row.get(kind)) for kind in beside), *sizes)
        )
    header = ("metric", "protocol", "value ↓", *(_BESIDE[kind] for kind in beside), "N gen", "N real", "D")
    return Table(
        title="Distances",
        header=header,
        rows=lines,
        caption="Lower is closer. A distance depends on N and on the protocol: compare only within one row's settings.",
    )


def _protocols(rows: dict[tuple[str, str], dict[str, Measurement]]) -> Table:
    lines = [
        (Cell(metric), Cell(protocol), *(Cell(dict(row["value"].definition.params).get(key, "–")) for key in _PROTOCOL))
        for (metric, protocol), row in rows.items()
    ]
    return Table(title="Protocols", header=("metric", "protocol", *_PROTOCOL), rows=lines)
