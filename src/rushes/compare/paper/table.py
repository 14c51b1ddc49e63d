"""`rushes table` in Python: systems by columns, each column with one signature and one set of references.

Of a suite, any number that was measured or asked is a column by its name. Of single runs and paper folders, numbers
share a column only when their signatures are equal and they were compared with the same clips; otherwise the column is
there twice, and a note says in what the two differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from rushes.compare.agreement.credential import Credential, shipped_credentials
from rushes.compare.agreement.known import known_agreement
from rushes.compare.board.model import BoardData
from rushes.compare.paper.columns import COLUMNS, Column, chosen_columns
from rushes.compare.paper.evaluation import Evaluation, Pick, open_evaluation
from rushes.compare.paper.grid import TableColumn, cell, groups_of, headed, notes_on, rests_on
from rushes.compare.paper.run_marks import with_marks
from rushes.compare.paper.suite_columns import absent_metrics, default_names, picked, suite_columns, suite_systems
from rushes.compare.paper.systems import System, read_systems
from rushes.compare.questions import MetricRow, one_way_each, question_table
from rushes.core.answer import Answer
from rushes.core.errors import InputError
from rushes.core.table import NUMBER, TEXT, Cell, Footnote, Table, csv_text, heads_by_mark
from rushes.core.table import Column as Head
from rushes.core.words.notebook_repr import table_html
from rushes.core.words.options import option
from rushes.present.tables.fitting import Width
from rushes.present.tables.latex import Signatures, latex, signature_list
from rushes.present.tables.markdown import markdown
from rushes.present.tables.page import html_page
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.suite.folder import is_suite_folder

if TYPE_CHECKING:
    import pandas

Format: TypeAlias = Literal["markdown", "latex", "csv", "html", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)
IntervalPlace: TypeAlias = Literal["none", "beside", "under"]
Place: TypeAlias = "Path | str | Run | Evaluation | BoardData"
_HEADER = ("system", "column", "value", "low", "high", "level", "method", "clips", "note", "signature")
CAPTION = "Generated clips against their references; an arrow points to the better side."
CLIP_CAPTION = "Means over clips; an arrow points to the better side."
SUITE_CAPTION = "Systems over shared prompts; an arrow points to the better side."
BOLD = "Bold: significantly better than every other system"
UNDERLINED = "underlined: than every other but that one"
TESTED = "(95 %, Holm within each family of the board's tests)."


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable(Answer):
    """Systems × columns, with a footnote for each column and notes on what is missing."""

    systems: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    notes: tuple[str, ...]
    caption: str = CAPTION
    interval: IntervalPlace = "none"
    """Where intervals are shown."""
    agreement: tuple[tuple[Credential, ...], ...] | None = None
    """By column, what is known of its agreement with people; None where nobody asked. With it, metrics are rows."""

    @property
    def summary(self) -> str:
        """What the table has."""
        return f"{len(self.systems)} systems, {len(self.columns)} columns. {self.caption}"

    def _items(self) -> tuple[str, ...]:
        return self.systems

    def _tables(self) -> tuple[Table, ...]:
        return (self.grid,)

    def __repr__(self) -> str:
        return str(self.grid)

    def _repr_html_(self) -> str:
        return table_html(self.grid, columns=len(self.columns) + 1)

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        marked = {column.mark: column for column in reversed(self.columns) if column.mark is not None}
        return tuple(
            Footnote(
                mark=mark,
                signature=column.signature,
                remark=rests_on(column, self.systems, intervals=self.interval != "none"),
            )
            for mark, column in sorted(marked.items())
        )

    def text(
        self, format: Format = "markdown", *, signatures: Signatures | None = None, width: Width | None = None
    ) -> str:
        """The whole table in one format; the same runs give the same text.

        `signatures` and `width` are as in `latex`. By default signatures stand below the table; in LaTeX they are
        comments of the file.
        """
        if format not in FORMATS:
            raise InputError(f"expected a format out of {', '.join(FORMATS)}; got {format!r}")
        if format == "latex":
            return self.latex(signatures=signatures or "comment", width=width)
        if format == "csv":
            return self.csv()
        table = self._shown(signatures or "footnote")
        if format == "html":
            return html_page(table, under=self.interval == "under")
        return markdown(table, under=self.interval == "under") if format == "markdown" else self._plain(table)

    def markdown(self) -> str:
        """A table with its signatures as a numbered list below."""
        return self.text("markdown")

    def html(self) -> str:
        """A page of its own, without a script; every number has its signature where the pointer rests on it."""
        return self.text("html")

    def latex(
        self,
        *,
        booktabs: bool = True,
        width: Width | None = None,
        signatures: Signatures = "footnote",
        label: str = "",
    ) -> str:
        """A `table` environment that pdflatex takes as it is; with `booktabs`, its rules need that package.

        `width` fits it into one or both columns of a two-column paper: smaller letters down to \\scriptsize, intervals
        below their values, metrics as rows, or blocks of columns. `signatures` puts signatures and notes below the
        table ("footnote"), into comments of the file ("comment"), or leaves them to `appendix()`.
        """
        under = self.interval == "under"
        return latex(self.grid, booktabs=booktabs, width=width, under=under, signatures=signatures, label=label)

    def appendix(self, format: Format = "latex") -> str:
        """Signatures and notes alone, for an appendix: an itemize environment, or a Markdown list."""
        if format == "latex":
            return signature_list(self.grid)
        heads = heads_by_mark(self.grid)
        rows = [f"- {heads[str(note.mark)]}: `{note.signature}` ({note.remark})" for note in self.footnotes]
        return "\n".join([*rows, *(f"- {note}" for note in self.notes)]) + "\n"

    def to_pandas(self) -> pandas.DataFrame:
        """Values as a data frame, a row per system and a column per column of the table; a dash is NaN."""
        from rushes.core.registry import optional_package

        frames = optional_package("pandas", "to_pandas needs pandas", package="pandas")
        columns = {}
        for column in self.columns:
            values = [None if r is None else r.measurement.value for r in column.readings]
            columns[column.column.name if column.column.name not in columns else headed(column)] = values
        made: pandas.DataFrame = frames.DataFrame(columns, index=frames.Index(self.systems, name="system"))
        return made

    @property
    def grid(self) -> Table:
        """Its cells as text, with the marks."""
        if self.agreement is not None:
            return self._by_metric(self.agreement)
        heads = [Head(headed(c), NUMBER, mark="" if c.mark is None else str(c.mark)) for c in self.columns]
        rows = [
            (Cell(system), *(cell(column, place, self.interval != "none") for column in self.columns))
            for place, system in enumerate(self.systems)
        ]
        columns = (*TEXT("System"), *heads)
        return Table(
            title="", columns=columns, rows=rows, caption=self.caption, footnotes=self.footnotes, notes=self.notes
        )

    def _by_metric(self, agreement: Sequence[tuple[Credential, ...]]) -> Table:
        """A row per metric, with how far people agree with it."""
        rows = [
            MetricRow(
                metric=column.column.metric,
                head=headed(column),
                cells=[cell(column, place, self.interval != "none") for place in range(len(self.systems))],
                known=known,
                mark="" if column.mark is None else str(column.mark),
            )
            for column, known in zip(self.columns, agreement, strict=True)
        ]
        return question_table(rows, self.systems, caption=self.caption, footnotes=self.footnotes, notes=self.notes)

    def _shown(self, signatures: Signatures) -> Table:
        grid = self.grid
        if signatures in ("footnote", "comment"):
            return grid
        heads = [replace(column, mark="") for column in grid.columns]
        rows = [[replace(one, raised="") for one in row] for row in grid.rows]
        notes = () if signatures == "appendix" else grid.notes
        return replace(grid, columns=heads, rows=rows, footnotes=(), notes=notes)

    def _plain(self, table: Table) -> str:
        """For a terminal or a mail: bold is a star, underlined a degree sign."""
        texts = [
            [Cell(f"{c.text}{'*' * c.bold}{'°' * c.underlined} {c.beside}".strip()) for c in row] for row in table.rows
        ]
        marks = "* best, ° second best, where significant" if any(c.best is not None for c in self.columns) else ""
        below = [table.caption, marks, *(f"{n.mark}. {n.signature}: {n.remark}" for n in table.footnotes), *table.notes]
        return f"{replace(table, rows=texts)!s}\n\n" + "\n".join(filter(None, below)) + "\n"

    def csv(self) -> str:
        """One row per number: system, column, value, low, high, level, method, clips, note, signature."""
        rows: list[list[object]] = []
        for place, system in enumerate(self.systems):
            for column in self.columns:
                row: list[object] = [system, column.column.name]
                if (reading := column.readings[place]) is None:
                    rows.append([*row, *[None] * 7, ""])
                    continue
                m = reading.measurement
                drawn = {} if m.interval is None else m.interval.as_dict()
                ends = [drawn.get(key) for key in ("low", "high", "level", "method")]
                rows.append([*row, m.stored_value, *ends, reading.rests_on, m.note, m.signature])
        return csv_text(_HEADER, rows)

    def as_dict(self) -> dict[str, object]:
        """Plain data, for `--json`: every number in full."""
        rows = [
            {"system": system, "column": column.column.name, "mark": column.mark, "best": column.best == place}
            | {"second": column.second == place}
            | ({"value": None} if (found := column.readings[place]) is None else found.measurement.as_dict())
            | ({} if self.agreement is None else {"agreement": _as_dicts(self.agreement[number])})
            for place, system in enumerate(self.systems)
            for number, column in enumerate(self.columns)
        ]
        notes = [{"mark": note.mark, "signature": note.signature, "remark": note.remark} for note in self.footnotes]
        return {"caption": self.caption, "cells": rows, "footnotes": notes, "notes": list(self.notes)}


def paper_table(
    *places: Place | Iterable[Place],
    columns: str | Iterable[str] | None = None,
    digits: int | Mapping[str, int] | None = None,
    interval: bool | IntervalPlace = False,
    bold: bool = True,
    caption: str | None = None,
    agreement: bool = False,
) -> PaperTable:
    """Make a paper's table: one row per system, any measured number a column.

        print(rushes.table("out/suite", columns="fvd,psnr,rating:alignment,signals").latex(width="two"))
        print(rushes.table("paper/amber", "paper/birch", interval=True).latex())

    Args:
        places: a folder of `rushes suite run`; or folders of `rushes paper` and complete runs of fidelity,
            distribution, clip, pose and instruments of other packages. Runs of one generated set are one row.
        columns: metrics by any name that `rushes metrics` knows, or "talking-head" for those that answer what people
            ask about talking heads, as far as they were measured; of a suite also `rating:QUESTION`, `wins:QUESTION`
            and `elo:QUESTION` for what people answered, and `signals` for the share of flagged clips. By default a
            suite shows up to eight, people first.
        digits: decimals, one number for all columns, or one by column; by default as many as the interval warrants.
        interval: "beside" its value (or True), "under" it, or "none" (or False, the default).
        bold: mark the best value and underline the second best, only where the difference is significant; the
            reference is never marked. True by default.
        caption: of the table; by default one that says what was measured.
        agreement: metrics are rows, and beside each stands how far it is known to agree with people: by the credentials
            of Rushes, and of a suite those beside it. False by default.

    Returns:
        A `PaperTable` with `.latex()`, `.markdown()`, `.csv()` and `.to_pandas()`. Numbers of different signatures, or
        against different references, are never put in one column.

    Raises:
        InputError: a column is not known, or two systems have one name.
        RunError: a folder is not a complete run.
    """
    given = [one for place in places for one in ([place] if isinstance(place, _ONE) else place)]
    where: IntervalPlace = interval if isinstance(interval, str) else "beside" if interval else "none"
    if where not in get_args(IntervalPlace):
        raise InputError(f"expected interval beside, under or none; got {interval!r}")
    if len(given) == 1 and _is_evaluation(given[0]):
        return _of_suite(open_evaluation(given[0]), columns, digits, where, bold, caption, agreement)
    if suites := [place for place in given if _is_evaluation(place)]:
        raise InputError(f"{suites[0]}: a suite makes a table of its own; give one suite, or runs and paper folders")
    runs = [place for place in given if isinstance(place, Path | str | Run)]
    wanted = None if columns is None else chosen_columns(columns, of_runs=True)
    systems = read_systems(runs, metrics=[column.metric for column in wanted or ()])
    if wanted is None:
        wanted = _default_columns(systems)
    decimals = _decimals(digits, wanted)
    groups = [(column, readings) for column in wanted for readings in groups_of(column, systems, columns=wanted)]
    found: list[TableColumn] = []
    for column, readings in groups:
        mark = 1 + sum(earlier.mark is not None for earlier in found) if any(readings) else None
        found.append(TableColumn(column=column, readings=readings, digits=decimals[column.name], mark=mark))
    if bold:
        found = with_marks(found, systems)
    known = None
    if agreement:
        found, known = _with_agreement(found, shipped_credentials())
    return PaperTable(
        systems=tuple(system.name for system in systems),
        columns=tuple(found),
        notes=tuple(notes_on(systems, found)),
        caption=_caption(_run_caption(wanted) if caption is None else caption, found),
        interval=where,
        agreement=known,
    )


table = paper_table
"""The same by its shorter name: `rushes.table("out/suite")`."""
_ONE = (Path, str, Run, Evaluation, BoardData)


def _is_evaluation(place: Place) -> bool:
    if isinstance(place, Evaluation | BoardData):
        return True
    return isinstance(place, Path | str) and not is_remote(place) and is_suite_folder(place)


def _of_suite(
    evaluation: Evaluation,
    columns: str | Iterable[str] | None,
    digits: int | Mapping[str, int] | None,
    interval: IntervalPlace,
    bold: bool,
    caption: str | None,
    agreement: bool,
) -> PaperTable:
    picks = picked(evaluation, columns)
    systems, made = suite_systems(evaluation, picks), suite_columns(evaluation, picks, marked=bold)
    if digits is not None:
        chosen = _decimals(digits, [one.column for one in made], known=True)
        made = [replace(one, digits=chosen.get(one.column.name, one.digits)) for one in made]
    known = None
    if agreement:
        made, known = _with_agreement(made, evaluation.data.credentials, evaluation.data.kind)
    notes = [*notes_on(systems, made), *([] if agreement else _unmarked(made)), *evaluation.data.remarks]
    if absent := absent_metrics(picks, columns):
        notes.append(f"Not measured: {', '.join(absent)}")
    if columns is None and (more := [name for name in evaluation.names if name not in default_names(evaluation)]):
        notes.append(f"Also measured: {', '.join(more)}")
    return PaperTable(
        systems=tuple(system.name for system in systems),
        columns=tuple(made),
        notes=tuple(notes),
        caption=_caption(_suite_caption(evaluation, picks) if caption is None else caption, made),
        interval=interval,
        agreement=known,
    )


def _with_agreement(
    columns: Sequence[TableColumn], credentials: Sequence[Credential], kind: str = ""
) -> tuple[list[TableColumn], tuple[tuple[Credential, ...], ...]]:
    """The columns to show as rows, called by their metrics, and what is known of each."""
    known = [
        known_agreement(one.found[0].measurement.definition, credentials, kind=kind) if one.found else ()
        for one in columns
    ]
    kept = one_way_each([(one.column.metric, about) for one, about in zip(columns, known, strict=True)])
    names = Counter(columns[n].column.metric for n in kept)
    alone = (n for n in kept if names[columns[n].column.metric] == 1)
    called = {n: replace(columns[n], head=columns[n].column.metric) for n in alone}
    return [called.get(n, columns[n]) for n in kept], tuple(known[n] for n in kept)


def _as_dicts(known: Sequence[Credential]) -> list[dict[str, object]]:
    return [m.as_dict() for one in known for m in one.measurements]


def _run_caption(columns: Sequence[Column]) -> str:
    """Metrics of clips alone have no reference to be compared with."""
    return CAPTION if any(column.source in ("fidelity", "distribution") for column in columns) else CLIP_CAPTION


def _suite_caption(evaluation: Evaluation, picks: Sequence[Pick]) -> str:
    reference, few = evaluation.data.reference, evaluation.too_few(picks)
    if few and any(pick.strengths is not None for pick in picks):
        few = f"Elo aside, {few}"
    return " ".join(filter(None, (SUITE_CAPTION, f"{reference} is the reference." if reference else "", few)))


def _unmarked(columns: Sequence[TableColumn]) -> list[str]:
    """Why no system is marked under a head, each reason once."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.unmarked:
            found.setdefault(column.unmarked, []).append(column.title)
    return [f"{', '.join(heads)}: {why}" for why, heads in found.items()]


def _default_columns(systems: Sequence[System]) -> tuple[Column, ...]:
    """What was asked for; of single runs, the columns that have a number, or the reason for none."""
    asked = [name for system in systems for name in system.columns or ()]
    readings = [reading for system in systems for reading in system.readings if system.columns is None]
    had = [name for name, column in COLUMNS.items() if any(reading.under(column) for reading in readings)]
    names = dict.fromkeys([*asked, *had])
    if not names:
        raise InputError(
            f"expected values of {', '.join(COLUMNS)}; the runs have none of these; give {option('--columns NAMES')}"
        )
    usual = [name for name in COLUMNS if name in names]
    return chosen_columns([*usual, *(name for name in names if name not in COLUMNS)], of_runs=True)


def _decimals(
    digits: int | Mapping[str, int] | None, columns: Sequence[Column], *, known: bool = False
) -> dict[str, int]:
    """By column; with `known`, only what was asked for, by the names of the columns themselves."""
    own = {} if known else {column.name: column.digits for column in columns}
    if digits is None:
        return own
    if isinstance(digits, Mapping) and known:
        names = {column.name for column in columns}
        if strangers := [name for name in digits if name not in names]:
            raise InputError(f"digits of {strangers[0]}: the table has no such column; it has {', '.join(names)}")
        chosen = dict(digits)
    elif isinstance(digits, Mapping):
        chosen = {
            column.name: number for name, number in digits.items() for column in chosen_columns(name, of_runs=True)
        }
    else:
        chosen = dict.fromkeys((column.name for column in columns), digits)
    for name, number in chosen.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 8:
            raise InputError(f"digits of {name}: expected a whole number from 0 to 8; got {number!r}")
    return own | chosen


def _caption(caption: str, columns: Sequence[TableColumn]) -> str:
    """With what the marks mean, where there are any."""
    if all(column.best is None for column in columns):
        return caption
    marks = [BOLD, *([UNDERLINED] if any(column.second is not None for column in columns) else [])]
    return f"{caption} {', '.join(marks)} {TESTED}".strip()
