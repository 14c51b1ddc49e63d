"""A comparison as a table for a paper, a note or a spreadsheet: Markdown, LaTeX and CSV, with every signature."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.page.rows import interval_cell, not_compared, p_cell, signed_cell, told
from rushes.compare.runs.page.words import change_size, fact_lines, holm_lines, quiet_lines, run_name
from rushes.compare.runs.results import MetricComparison, RunComparison
from rushes.compare.runs.set_distances import distance_table, more_than_chance
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.selection import label
from rushes.core.table import ARROWS, COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, csv_text, number
from rushes.core.words.number_text import signed_text
from rushes.present.tables.latex import latex
from rushes.present.tables.markdown import markdown

TableFormat: TypeAlias = Literal["markdown", "latex", "csv"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
ENDINGS: dict[str, TableFormat] = {".md": "markdown", ".tex": "latex", ".csv": "csv"}
"""What a file's name says about the format wanted."""
_NUMBERS = (
    *(*NUMBER("mean difference", keep=True), *INTERVAL("95 % interval")),
    *(*NUMBER("p", "p (Holm)"), *COUNT("clips")),
)
_VERDICT = TEXT("verdict", keep=True)
_CSV = (
    *("run", "metric", "at", "verdict", "value", "low", "high", "level", "method", "p", "p_holm", "n"),
    *("rose", "fell", "same", "note", "signature", "p_signature", "p_holm_signature"),
)


def comparison_table(found: RunsComparison, format: TableFormat) -> str:
    """The comparison as text in one of `FORMATS`: value, interval, p before and after Holm, clips, verdict, signature.

    Markdown and LaTeX have a row for what changed and lines for the rest; CSV has a row for everything, as stored.
    """
    if format not in FORMATS:
        raise InputError(f"expected a table as {', '.join(FORMATS)}; got {format!r}")
    if format == "csv":
        return _csv(found)
    tables = _distances(found) if found.comparisons[0].distances else [_paper_table(found)]
    return "\n".join(map(markdown if format == "markdown" else latex, tables))


def result_table(found: RunsComparison) -> Table:
    """The rows of several runs for a terminal: every number a cell with its measurement."""
    rows = [(Cell(one.name), Cell(one.second), *_numbers(one), Cell(one.text)) for one in told(found)]
    title = f"Mean differences from A; verdicts after Holm over {found.family} comparisons"
    return Table(title=title, columns=(*TEXT("metric", "run"), *_NUMBERS, *_VERDICT), rows=rows)


def difference_table(found: RunsComparison) -> Table:
    """Two runs for a terminal and the workbench: a row per metric that changed, as `told` sorts them."""
    many = f"{found.family} comparison{'' if found.family == 1 else 's'}"
    return Table(
        title=f"Mean differences with 95 % intervals, sign-flip p; verdicts after Holm over {many}",
        columns=(
            *(*TEXT("metric", "better"), *NUMBER("mean", keep=True), *INTERVAL("95 % interval")),
            *(*COUNT("rose", "fell", "same"), *NUMBER("p", "p (Holm)"), *_VERDICT),
        ),
        rows=list(map(_difference_row, told(found))),
    )


def change_table(comparison: RunComparison, names: Collection[str] | None = None) -> Table:
    """The clips that changed most, metric by metric; of the metrics of these names, left out of all."""
    rows = [
        (
            Cell(one.name),
            Cell(c.subject),
            number(c.first),
            number(c.second),
            Cell(signed_text(float(c.difference.value or 0)), c.difference),
        )
        for one in sorted(comparison.metrics, key=change_size)
        if names is None or one.name in names
        for c in one.largest
    ]
    columns = (*TEXT("metric", "clip"), *NUMBER("A", keep=True), *NUMBER("B", "B − A"))
    return Table(title="Clips that changed most", columns=columns, rows=rows)


def _difference_row(one: MetricComparison) -> tuple[Cell, ...]:
    s = one.statistics
    return (
        Cell(one.name),
        Cell(ARROWS[s.mean.definition.better] or "·"),
        Cell(signed_text(float(s.mean.value or 0)), s.mean),
        Cell(interval_cell(s.mean).text),
        *(number(m) for m in (s.rose, s.fell, s.same)),
        *(p_cell(m) for m in (one.p, one.adjusted_p)),
        Cell(one.text),
    )


def _paper_table(found: RunsComparison) -> Table:
    """Two runs or more for a paper or a note: a row for what changed, its signature below, the rest in notes."""
    shown = told(found)
    several = len(found.runs) > 2
    signatures = [one.statistics.mean.signature for one in shown]
    names = [f"{letter} is {run_name(run)}" for letter, run in zip(found.letters, found.runs, strict=True)]
    notes = [f"{said}: {', '.join(names)}" for said, names in quiet_lines(found)]
    notes += [*holm_lines(found), *fact_lines(found)]
    notes += [f"{row[1].text} ({row[2].text}): {row[3].text}" for row in not_compared(found).rows]
    return Table(
        title="",
        columns=(*TEXT("metric", "run")[: 1 + several], *_NUMBERS, *_VERDICT),
        rows=[(*map(Cell, (one.name, one.second)[: 1 + several]), *_numbers(one), Cell(one.text)) for one in shown],
        caption=f"Mean paired differences from A with 95 % intervals; {', '.join(names)}. "
        f"Verdicts are after Holm over {found.family} comparisons; changed is neither better nor worse.",
        notes=[*notes, *_probabilities(shown)],
    ).footnoted(signatures)


def _numbers(one: MetricComparison) -> tuple[Cell, ...]:
    mean = one.statistics.mean
    clips = Cell(str(mean.count), mean)
    return signed_cell(mean), interval_cell(mean), p_cell(one.p), p_cell(one.adjusted_p), clips


def _probabilities(shown: Sequence[MetricComparison]) -> list[str]:
    """How p was measured: one sentence, for its signature differs from row to row in the metric alone."""
    if not shown:
        return []
    return [f"p is {_of_any(shown[0].p)}, p (Holm) {_of_any(shown[0].holm)}, `of` being the metric's signature."]


def _of_any(m: Measurement) -> str:
    """A signature without the metric it is of."""
    return re.sub(r"\|of:[^|]*", "|of:…", m.signature)


def _distances(found: RunsComparison) -> list[Table]:
    tables = []
    for letter, comparison in zip(found.letters[1:], found.comparisons, strict=True):
        table, changes = distance_table(comparison.distances, letter=letter), comparison.distances
        refused = [f"Not compared: {change.why}" for change in changes if change.why]
        names = f"A is {run_name(comparison.first)}, {letter} is {run_name(comparison.second)}"
        tables.append(
            replace(
                table.footnoted([c.first.signature for c in changes], [c.second.signature for c in changes]),
                title="",
                caption=f"{names}. {table.title}.",
                notes=[*refused, more_than_chance(letter)],
            )
        )
    return tables


def _csv(found: RunsComparison) -> str:
    rows = [_csv_row(one, found) for one in found.judged]
    for place, comparison in enumerate(found.comparisons, 1):
        name = run_name(found.runs[place])
        for change in comparison.distances:
            sides = ((run_name(found.runs[0]), change.first), (name, change.second))
            rows += [_plain(run, m, "value", change.why) for run, m in sides]
            if change.difference is not None:
                rows.append(_plain(name, change.difference, "difference", ""))
        rows += [[name, r.name, "", "refused", *[None] * 11, r.why, r.second, "", ""] for r in comparison.refused]
        rows += [
            [name, one.partition("|")[0], "", "in one run only", *[None] * 11, "", one, "", ""]
            for one in comparison.unshared
        ]
    return csv_text(_CSV, rows)


def _csv_row(one: MetricComparison, found: RunsComparison) -> list[object]:
    s = one.statistics
    stored = (one.p.stored_value, one.adjusted_p.stored_value, s.mean.count)
    counts = [m.stored_value for m in (s.rose, s.fell, s.same)]
    signed_by = (s.mean.signature, one.p.signature, one.adjusted_p.signature)
    place = label(one.reading, one.reading.place)
    head = (run_name(found.runs[one.run]), one.name, place, one.text, s.mean.stored_value)
    return [*head, *_ends(s.mean), *stored, *counts, s.mean.note, *signed_by]


def _plain(run: str, m: Measurement, what: str, note: str) -> list[object]:
    told = [run, m.name, label(m, m.place), what, m.stored_value]
    return [*told, *_ends(m), None, None, m.count, None, None, None, note or m.note, m.signature, "", ""]


def _ends(m: Measurement) -> list[object]:
    drawn = {} if m.interval is None else m.interval.as_dict()
    return [drawn.get(key) for key in ("low", "high", "level", "method")]
