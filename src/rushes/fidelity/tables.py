"""A fidelity run as tables, made once: terminal, report and CSV show these cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rushes.core import Measurement
from rushes.core.files import replacing
from rushes.core.selection import differing_keys, label
from rushes.core.table import ARROWS, Cell, Table, csv_text, number
from rushes.fidelity.lag import LAG_FRAMES
from rushes.fidelity.metric import PairMetric
from rushes.fidelity.metrics import METRICS
from rushes.fidelity.pairing import Pairing
from rushes.remote.transfer import upload_on_exit
from rushes.report.section import compact_cell, interval_text
from rushes.runs import Entry, Run

_ADDED = {*Pairing().params, "aggregate"}
"""Parameters that measuring adds to a metric's own."""


def metric_of(measurement: Measurement) -> tuple[str, PairMetric] | None:
    """The metric that a stored number came from, with its name; None where its package is not here any more."""
    given = {key: value for key, value in measurement.definition.params if key not in _ADDED}
    for name, metric in METRICS.items():
        own, open_ones = dict(metric.definition.params), metric.definition.open_params
        if metric.definition.name == measurement.name and given.keys() == {*own, *open_ones}:
            if all(given[key] == value for key, value in own.items()):
                return name, metric
    return None


def head_of(measurement: Measurement) -> str:
    """What its column is called: as papers print it, with the direction."""
    found = metric_of(measurement)
    words = "Lag" if measurement.definition == LAG_FRAMES else found[1].label if found else measurement.name
    return f"{words} {ARROWS[measurement.definition.better]}".strip()


def pairs_of(run: Run) -> list[Entry]:
    """The pairs, worst first by the first number that has a direction; those that could not be compared before all."""
    entries = [entry for entry in run.entries if entry.subject.kind == "pair"]
    lead = next((m for entry in entries for m in entry.measurements if m.definition.better != "neither"), None)
    if lead is None:
        return entries

    def rank(entry: Entry) -> tuple[bool, float]:
        found = next((m.value for m in entry.measurements if m.signature == lead.signature), None)
        if found is None:
            return ("error" not in entry.subject.facts, float("-inf"))
        return True, float(found) if lead.definition.better == "higher" else -float(found)

    return sorted(entries, key=rank)


def set_numbers(run: Run) -> tuple[Measurement, ...]:
    """The means over the clips."""
    return next((e.measurements for e in reversed(run.entries) if e.subject.kind == "set"), ())


def set_table(run: Run) -> Table:
    """One row per number of the set: value, interval, clips, unit, a note where there is any, signature."""
    numbers = set_numbers(run)
    columns: dict[str, list[Cell]] = {
        "metric": [Cell(_row_head(m, numbers)) for m in numbers],
        "value": [number(m) for m in numbers],
        "95 % interval": [Cell(interval_text(m).partition(" (")[0]) for m in numbers],
        "clips": [Cell(str(m.count)) for m in numbers],
        "unit": [Cell("" if m.definition.unit == "1" else m.definition.unit) for m in numbers],
        "note": [Cell(m.note) for m in numbers],
        "signature": [Cell(m.signature) for m in numbers],
    }
    kept = {head: cells for head, cells in columns.items() if any(cell.text for cell in cells)}
    return Table(
        title="Mean over the clips",
        header=tuple(kept),
        rows=list(zip(*kept.values(), strict=True)),
        caption="Student's t over the clips. Only numbers of one signature compare.",
    )


def _row_head(measurement: Measurement, numbers: Sequence[Measurement]) -> str:
    """Its column's head; its settings as well where another number has the same head."""
    head = head_of(measurement)
    alike = [m for m in numbers if head_of(m) == head]
    return head if len(alike) < 2 else f"{head}, {label(measurement, differing_keys(alike))}"


def pair_columns(entries: Sequence[Entry]) -> list[Measurement]:
    """A number of each column, in order: every signature that some pair has a value for."""
    found: dict[str, Measurement] = {}
    for entry in entries:
        for m in entry.measurements:
            if m.value is not None:
                found.setdefault(m.signature, m)
    return list(found.values())


def pair_table(run: Run, *, most: int | None = None, columns: int | None = None) -> Table:
    """One row per pair, worst first: id, frames, the first `columns` numbers, and why it could not be compared."""
    entries = pairs_of(run)
    shown = pair_columns(entries)[:columns]
    rows = []
    for entry in entries[:most]:
        values = {m.signature: m for m in entry.measurements}
        facts = entry.subject.facts
        cells = [compact_cell(values.get(column.signature)) for column in shown]
        frames, error = (Cell(str(facts.get(key, ""))) for key in ("frames", "error"))
        rows.append((Cell(entry.subject.id), frames, *cells, error))
    header = ("pair", "frames", *(head_of(column) for column in shown), "not compared")
    if not any(row[-1].text for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return Table(title="Clip by clip", header=header, rows=rows)


def csv_of(run: Run) -> str:
    """One row per pair: id, paths, frames, reason, then one column per signature, as stored."""
    entries = [entry for entry in run.entries if entry.subject.kind == "pair"]
    signatures = list(dict.fromkeys(m.signature for entry in entries for m in entry.measurements))
    rows = []
    for entry in entries:
        subject, values = entry.subject, {m.signature: m.stored_value for m in entry.measurements}
        reference = subject.facts.get("reference")
        path = reference.get("path") if isinstance(reference, dict) else ""
        texts = (subject.id, subject.path, path, subject.facts.get("frames", ""), subject.facts.get("error", ""))
        rows.append((*texts, *(values.get(signature) for signature in signatures)))
    return csv_text(("id", "gen", "gt", "frames", "not_compared", *signatures), rows)


def write_csv(run: Run, path: Path | str) -> str:
    """Write `csv_of`; where it was written."""
    with upload_on_exit(path) as target, replacing(target) as out:
        out.write(csv_of(run))
    return str(path)
