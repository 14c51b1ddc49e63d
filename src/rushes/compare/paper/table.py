"""`rushes table` in Python: systems by columns, each column with one signature and one set of references.

Numbers stand under one head only when their signatures are equal and they were held against the same clips; otherwise
the column is there twice, and a note says in what the two differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from rushes.compare.paper.columns import COLUMNS, Column, chosen_columns
from rushes.compare.paper.grid import TableColumn, best_of, cell, groups_of, headed, notes_on, rests_on
from rushes.compare.paper.systems import System, read_systems
from rushes.core.errors import InputError
from rushes.core.table import NUMBER, TEXT, Cell, Footnote, Table, csv_text
from rushes.core.table import Column as Head
from rushes.core.words.notebook_repr import brief
from rushes.present.tables.latex import latex
from rushes.present.tables.markdown import markdown
from rushes.storage.runs import Run

Format: TypeAlias = Literal["markdown", "latex", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
_HEADER = ("system", "column", "value", "low", "high", "level", "method", "clips", "note", "signature")
CAPTION = "Generated clips against their references; an arrow points to the better side."
BOLD = "Bold: the best value of a column where its {level:g} % interval overlaps no other system's."


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """Systems × columns, with a footnote for each column and notes on what is missing."""

    __repr__ = brief

    systems: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    notes: tuple[str, ...]
    caption: str = CAPTION
    interval: bool = False
    """Whether intervals are shown beside the values."""

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        return tuple(
            Footnote(
                mark=column.mark,
                signature=column.signature,
                remark=rests_on(column, self.systems, intervals=self.interval),
            )
            for column in self.columns
            if column.mark is not None
        )

    def text(self, format: Format = "markdown") -> str:
        """The whole table as Markdown, LaTeX or CSV; the same runs give the same text."""
        writers = {"markdown": self.markdown, "latex": self.latex, "csv": self.csv}
        if format not in writers:
            raise InputError(f"expected a format out of {', '.join(FORMATS)}; got {format!r}")
        return writers[format]()

    def markdown(self) -> str:
        """A table with its signatures as a numbered list below."""
        return markdown(self._grid())

    def latex(self, *, booktabs: bool = True) -> str:
        """A `table` environment that pdflatex takes as it is; with `booktabs`, its rules need that package."""
        return latex(self._grid(), booktabs=booktabs)

    def _grid(self) -> Table:
        heads = [Head(headed(c), NUMBER, mark="" if c.mark is None else str(c.mark)) for c in self.columns]
        rows = [
            (Cell(system), *(cell(column, place, self.interval) for column in self.columns))
            for place, system in enumerate(self.systems)
        ]
        columns = (*TEXT("System"), *heads)
        return Table(
            title="", columns=columns, rows=rows, caption=self.caption, footnotes=self.footnotes, notes=self.notes
        )

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
            | ({"value": None} if (found := column.readings[place]) is None else found.measurement.as_dict())
            for place, system in enumerate(self.systems)
            for column in self.columns
        ]
        notes = [{"mark": note.mark, "signature": note.signature, "remark": note.remark} for note in self.footnotes]
        return {"caption": self.caption, "cells": rows, "footnotes": notes, "notes": list(self.notes)}


def paper_table(
    places: Path | str | Run | Iterable[Path | str | Run],
    *,
    columns: str | Iterable[str] | None = None,
    digits: int | Mapping[str, int] | None = None,
    interval: bool = False,
    bold: bool = False,
    caption: str = CAPTION,
) -> PaperTable:
    """A paper's table out of what `measure_paper` left, or out of single runs; one row per system.

        print(rushes.paper_table(["out/amber", "out/birch"], interval=True).latex())

    `places` are folders of `rushes paper`, and complete runs of fidelity, distribution, clip and pose: single runs of
    one generated set are one row. `columns` are names of columns in their order, or of any metric; left out, those that
    were asked for, or that there is a number for. `digits` is one number of decimals for all, or one by column.
    `interval` shows each
    number's interval: ± half its width, or both ends where the value is not in the middle. `bold` marks the best value
    of a column where its interval overlaps no other's; a column without intervals has none.

    Numbers of different signatures, or held against different references, are never put in one column. Raises
    `InputError` for a column that is not known and for two systems of one name, `RunError` for a folder that is no
    complete run of these instruments.
    """
    given = [places] if isinstance(places, (Run, Path, str)) else list(places)
    wanted = None if columns is None else chosen_columns(columns, of_runs=True)
    systems = read_systems(given, metrics=[column.metric for column in wanted or ()])
    if wanted is None:
        wanted = _default_columns(systems)
    decimals = _decimals(digits, wanted)
    groups = [(column, readings) for column in wanted for readings in groups_of(column, systems, columns=wanted)]
    made: list[TableColumn] = []
    for column, readings in groups:
        is_measured = any(readings)
        best = best_of(readings) if bold else None
        mark = 1 + sum(earlier.mark is not None for earlier in made) if is_measured else None
        made.append(TableColumn(column=column, readings=readings, digits=decimals[column.name], mark=mark, best=best))
    return PaperTable(
        systems=tuple(system.name for system in systems),
        columns=tuple(made),
        notes=tuple(notes_on(systems, made)),
        caption=_caption(caption, made) if bold else caption,
        interval=interval,
    )


def _default_columns(systems: Sequence[System]) -> tuple[Column, ...]:
    """What was asked for; of single runs, the columns that have a number, or the reason for none."""
    asked = [name for system in systems for name in system.columns or ()]
    readings = [reading for system in systems for reading in system.readings if system.columns is None]
    had = [name for name, column in COLUMNS.items() if any(reading.under(column) for reading in readings)]
    names = dict.fromkeys([*asked, *had])
    if not names:
        raise InputError(f"expected numbers of {', '.join(COLUMNS)}; the runs have none of them; give --columns")
    usual = [name for name in COLUMNS if name in names]
    return chosen_columns([*usual, *(name for name in names if name not in COLUMNS)])


def _decimals(digits: int | Mapping[str, int] | None, columns: Sequence[Column]) -> dict[str, int]:
    own = {column.name: column.digits for column in columns}
    if digits is None:
        return own
    if isinstance(digits, Mapping):
        chosen = {
            column.name: number for name, number in digits.items() for column in chosen_columns(name, of_runs=True)
        }
    else:
        chosen = dict.fromkeys(own, digits)
    for name, number in chosen.items():
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 8:
            raise InputError(f"digits of {name}: expected a whole number from 0 to 8; got {number!r}")
    return own | chosen


def _caption(caption: str, columns: Sequence[TableColumn]) -> str:
    levels = {100 * r.measurement.interval.level for c in columns for r in c.found if r.measurement.interval}
    return f"{caption} {BOLD.format(level=min(levels, default=95.0))}"
