"""A fidelity run as tables, made once: terminal, report and CSV show these cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.core import Measurement
from rushes.core.machine.files import replacing
from rushes.core.selection import spelt, told_apart
from rushes.core.table import ARROWS, COUNT, INTERVAL, NUMBER, SIGNATURE, TEXT, Cell, Table, csv_text, number
from rushes.core.words.definition_text import ends_text
from rushes.instruments.fidelity.metric import PairMetric
from rushes.instruments.fidelity.metrics import METRICS
from rushes.instruments.fidelity.pairs.frames import Pairing
from rushes.instruments.fidelity.pairs.lag import LAG_FRAMES
from rushes.storage.query.columns import Column as ClipColumn
from rushes.storage.query.columns import columns_of
from rushes.storage.query.one_file import SIGNATURE_HEADS, signature_rows, signatures_beside
from rushes.storage.remote.transfer import upload_on_exit
from rushes.storage.runs import Entry, Run

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


def reference_of(entry: Entry) -> tuple[str, str | None]:
    """Path and digest of what a pair's clip was held against; "" and None where the run has none."""
    facts = entry.subject.facts.get("reference")
    if not isinstance(facts, Mapping):
        return "", None
    digest = facts.get("sha256")
    return str(facts.get("path")), digest if isinstance(digest, str) else None


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
    columns = (
        *(*TEXT("metric"), *NUMBER("value"), *INTERVAL("95 % interval"), *COUNT("clips")),
        *(*TEXT("unit", "note"), *SIGNATURE("signature")),
    )
    rows = [
        (
            Cell(head),
            number(m),
            Cell(ends_text(m)),
            Cell(str(m.count)),
            Cell("" if m.definition.unit == "1" else m.definition.unit),
            Cell(m.note),
            Cell(m.signature),
        )
        for head, m in zip(_row_heads(numbers), numbers, strict=True)
    ]
    kept = [place for place in range(len(columns)) if any(row[place].text for row in rows)]
    return Table(
        title="Mean over the clips",
        columns=[columns[place] for place in kept],
        rows=[[row[place] for place in kept] for row in rows],
        caption="Student's t over the clips. Only values with the same signature are comparable.",
    )


def _row_heads(numbers: Sequence[Measurement]) -> list[str]:
    """The heads of their columns; where several share one, what tells those apart as well."""
    heads = [head_of(m) for m in numbers]
    return [spelt(head, words) for head, words in zip(heads, told_apart(numbers, heads=heads), strict=True)]


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
        cells = [number(values.get(column.signature)) for column in shown]
        frames, error = (Cell(str(facts.get(key, ""))) for key in ("frames", "error"))
        rows.append((Cell(entry.subject.id), frames, *cells, error))
    heads = (*TEXT("pair"), *COUNT("frames"), *NUMBER(*map(head_of, shown)), *TEXT("not compared"))
    if not any(row[-1].text for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return Table(title="Clip by clip", columns=heads, rows=rows)


def csv_of(run: Run) -> str:
    """One row per pair: id, paths, frames, reason, then a column per metric, as stored."""
    entries = [entry for entry in run.entries if entry.subject.kind == "pair"]
    columns = _pair_columns(run)
    signatures = [column.signature for column in columns]
    rows = []
    for entry in entries:
        subject, values = entry.subject, {m.signature: m.stored_value for m in entry.measurements}
        path, _ = reference_of(entry)
        texts = (subject.id, subject.path, path, subject.facts.get("frames", ""), subject.facts.get("error", ""))
        rows.append((*texts, *(values.get(signature) for signature in signatures)))
    return csv_text(("id", "gen", "gt", "frames", "not_compared", *(column.name for column in columns)), rows)


def _pair_columns(run: Run) -> list[ClipColumn]:
    """The columns of what was measured on pairs."""
    of_pairs = {m.signature for entry in run.entries if entry.subject.kind == "pair" for m in entry.measurements}
    return [column for column in columns_of(run) if column.signature in of_pairs]


def write_csv(run: Run, path: Path | str) -> list[str]:
    """Write `csv_of`, and how each column was measured beside it; the files that were written."""
    beside = signatures_beside(path)
    signatures = csv_text(SIGNATURE_HEADS, signature_rows(_pair_columns(run)))
    for name, text in ((str(path), csv_of(run)), (beside, signatures)):
        with upload_on_exit(name) as target, replacing(target) as out:
            out.write(text)
    return [str(path), beside]
