"""A comparison as a table for a paper, a note or a spreadsheet: Markdown, LaTeX and CSV, with every signature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from rushes.core import Measurement
from rushes.core.files import replacing
from rushes.core.selection import label
from rushes.core.table import ARROWS, Cell, Table, csv_text, number
from rushes.errors import InputError
from rushes.remote.transfer import upload_on_exit
from rushes.suite.compare_data import QUIET, signed_text
from rushes.suite.compare_many import Judged, RunsComparison
from rushes.suite.compare_page_rows import interval_cell, not_compared, p_cell, signed_cell, told_first
from rushes.suite.compare_page_words import holm_lines, quiet_lines, run_name
from rushes.suite.paper_latex import code, escaped
from rushes.suite.paper_markdown import code_span, plain_words
from rushes.suite.set_distances import HOLDS, distance_table

TableFormat: TypeAlias = Literal["markdown", "latex", "csv"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
ENDINGS: dict[str, TableFormat] = {".md": "markdown", ".tex": "latex", ".csv": "csv"}
"""What a file's name says about the format wanted."""
_NUMBERS = ("mean difference", "95 % interval", "p", "p (Holm)", "clips")
_CSV = (
    *("run", "metric", "at", "verdict", "value", "low", "high", "level", "method", "p", "p_holm", "n"),
    *("rose", "fell", "same", "note", "signature", "p_signature", "p_holm_signature"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """One table as words, before any markup."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    marks: Sequence[int]
    """The number of each row's footnote."""
    signatures: Sequence[str]
    notes: Sequence[str]


def comparison_table(found: RunsComparison, format: TableFormat) -> str:
    """The comparison as text in one of `FORMATS`: value, interval, p before and after Holm, clips, verdict, signature.

    Markdown and LaTeX have a row for what changed and lines for the rest; CSV has a row for everything, as stored.
    """
    if format not in FORMATS:
        raise InputError(f"a table is {', '.join(FORMATS)}; got {format!r}")
    if format == "csv":
        return _csv(found)
    tables = _distances(found) if found.comparisons[0].distances else [_texts(found)]
    return "\n".join(map(_markdown if format == "markdown" else _latex, tables))


def write_table(found: RunsComparison, out: Path | str, format: TableFormat) -> None:
    """`comparison_table` into a file, here or in a store."""
    text = comparison_table(found, format)
    try:
        with upload_on_exit(out) as target, replacing(target) as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{out}: cannot write the table ({error.strerror or error})") from None


def result_table(found: RunsComparison) -> Table:
    """The rows of several runs for a terminal: every number a cell with its measurement."""
    rows = [
        (Cell(one.name), Cell(one.letter), *_numbers(one), Cell(one.text))
        for lines in told_first(found)
        for one in lines
        if one.verdict not in QUIET
    ]
    title = f"Mean differences from A; verdicts after Holm over {found.family} comparisons"
    return Table(title=title, header=("metric", "run", *_NUMBERS, "verdict"), rows=rows)


def difference_table(found: RunsComparison) -> Table:
    """Two runs for a terminal and the workbench: a row per metric that moved; `quiet_readings` has the others."""
    return Table(
        title=f"Mean differences with 95 % intervals, sign-flip p; verdicts after Holm over {_comparisons(found)}",
        header=("metric", "better", "mean", "95 % interval", "rose", "fell", "same", "p", "p (Holm)", "verdict"),
        rows=[_difference_row(one) for one in found.judged if one.verdict not in QUIET],
    )


def _comparisons(found: RunsComparison) -> str:
    return f"{found.family} comparison{'' if found.family == 1 else 's'}"


def _difference_row(one: Judged) -> tuple[Cell, ...]:
    s = one.metric.statistics
    interval = s.mean.interval
    return (
        Cell(one.name),
        Cell(ARROWS[s.mean.definition.better] or "·"),
        Cell(signed_text(float(s.mean.value or 0)), s.mean),
        Cell("–" if interval is None else f"{signed_text(interval.low)} to {signed_text(interval.high)}"),
        *(number(m) for m in (s.rose, s.fell, s.same, one.p, one.holm)),
        Cell(one.text),
    )


def _texts(found: RunsComparison) -> _Texts:
    shown = [one for lines in told_first(found) for one in lines if one.verdict not in QUIET]
    several = len(found.runs) > 2
    signatures = list(dict.fromkeys(one.metric.statistics.mean.signature for one in shown))
    names = [f"{letter} is {run_name(run)}" for letter, run in zip(found.letters, found.runs, strict=True)]
    caption = (
        f"Mean paired differences from A with 95 % intervals; {', '.join(names)}. "
        f"Verdicts are after Holm over {found.family} comparisons; moved is no verdict."
    )
    notes = [f"{said}: {', '.join(names)}" for said, names in quiet_lines(found)]
    notes += holm_lines(found)
    notes += [f"{row[1].text} ({row[2].text}): {row[3].text}" for row in not_compared(found).rows]
    return _Texts(
        caption=caption,
        header=("metric", *(("run",) if several else ()), *_NUMBERS, "verdict"),
        rows=[_row(one, several) for one in shown],
        marks=[1 + signatures.index(one.metric.statistics.mean.signature) for one in shown],
        signatures=signatures,
        notes=[*notes, *_probabilities(shown)],
    )


def _row(one: Judged, several: bool) -> tuple[str, ...]:
    return (one.name, *((one.letter,) if several else ()), *(cell.text for cell in _numbers(one)), one.text)


def _numbers(one: Judged) -> tuple[Cell, ...]:
    mean = one.metric.statistics.mean
    clips = Cell(str(mean.count), mean)
    return signed_cell(mean), interval_cell(mean), p_cell(one.p), p_cell(one.holm), clips


def _probabilities(shown: Sequence[Judged]) -> list[str]:
    """How p was measured: one sentence, for its signature differs from row to row in the metric alone."""
    if not shown:
        return []
    return [f"p is {_of_any(shown[0].p)}, p (Holm) {_of_any(shown[0].holm)}, `of` being the metric's signature."]


def _of_any(m: Measurement) -> str:
    """A signature without the metric it is of."""
    return re.sub(r"\|of:[^|]*", "|of:…", m.signature)


def _distances(found: RunsComparison) -> list[_Texts]:
    tables = []
    for letter, comparison in zip(found.letters[1:], found.comparisons, strict=True):
        table, changes = distance_table(comparison.distances), comparison.distances
        signatures = list(dict.fromkeys(m.signature for c in changes for m in (c.first, c.second)))
        refused = [f"Not compared: {change.why}" for change in changes if change.why]
        tables.append(
            _Texts(
                caption=f"A is {run_name(comparison.first)}, {letter} is {run_name(comparison.second)}. {table.title}.",
                header=[letter if head == "B" else head.replace("B ", f"{letter} ", 1) for head in table.header],
                rows=table.texts(),
                marks=[1 + signatures.index(change.first.signature) for change in changes],
                signatures=signatures,
                notes=[*refused, HOLDS.replace(" B ", f" {letter} ")],
            )
        )
    return tables


def _markdown(table: _Texts) -> str:
    heads = [*table.header, "signature"]
    rule = [":---", *("---:" for _ in table.header[1:]), "---:"]
    rows = [[*map(plain_words, row), f"[{mark}]"] for row, mark in zip(table.rows, table.marks, strict=True)]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]
    lines += ["", plain_words(table.caption), ""]
    lines += [f"{number}. {code_span(signature)}" for number, signature in enumerate(table.signatures, 1)]
    lines += ["", *(f"- {plain_words(note)}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def _latex(table: _Texts) -> str:
    rows = [
        [*map(escaped, row[:1]), *map(escaped, row[1:]), rf"\textsuperscript{{{mark}}}"]
        for row, mark in zip(table.rows, table.marks, strict=True)
    ]
    spec = "l" + "r" * (len(table.header) - 1) + "l"
    lines = [r"% \usepackage{booktabs} in the preamble", r"\begin{table*}[t]", r"\centering"]
    lines += [rf"\caption{{{escaped(table.caption)}}}", r"\small\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _line([*map(escaped, table.header), ""]), r"\midrule"]
    lines += [*map(_line, rows), r"\bottomrule", r"\end{tabular}", r"\par\smallskip", r"{\footnotesize\raggedright"]
    lines += [
        rf"\textsuperscript{{{number}}}~{code(signature)}\par" for number, signature in enumerate(table.signatures, 1)
    ]
    return "\n".join([*lines, *(rf"{escaped(note)}\par" for note in table.notes), "}", r"\end{table*}"]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


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


def _csv_row(one: Judged, found: RunsComparison) -> list[object]:
    s = one.metric.statistics
    stored = (one.p.stored_value, one.holm.stored_value, s.mean.count)
    counts = [m.stored_value for m in (s.rose, s.fell, s.same)]
    signed_by = (s.mean.signature, one.p.signature, one.holm.signature)
    place = label(one.metric.reading, one.metric.reading.place)
    head = (run_name(found.runs[one.run]), one.name, place, one.text, s.mean.stored_value)
    return [*head, *_ends(s.mean), *stored, *counts, s.mean.note, *signed_by]


def _plain(run: str, m: Measurement, what: str, note: str) -> list[object]:
    told = [run, m.name, label(m, m.place), what, m.stored_value]
    return [*told, *_ends(m), None, None, m.count, None, None, None, note or m.note, m.signature, "", ""]


def _ends(m: Measurement) -> list[object]:
    drawn = {} if m.interval is None else m.interval.as_dict()
    return [drawn.get(key) for key in ("low", "high", "level", "method")]
