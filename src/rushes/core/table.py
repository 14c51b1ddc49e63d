"""A table of numbers, drawn once: terminal, page, CSV and charts all show the same cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rushes.core.measurement import Measurement, Value
from rushes.core.showing import table_html, table_lines
from rushes.core.text import ends_text, value_text

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}


@dataclass(frozen=True, slots=True)
class Cell:
    """Words, or a number that can be asked for its signature."""

    text: str
    measurement: Measurement | None = None

    @property
    def signature(self) -> str:
        return "" if self.measurement is None else self.measurement.signature

    @property
    def exact(self) -> str:
        """The value as the run's file has it; "" for words."""
        return "" if self.measurement is None else exact_text(self.measurement)

    @property
    def value(self) -> Value | str:
        """What a spreadsheet gets: the stored number, or the words."""
        return self.text if self.measurement is None else self.measurement.stored_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under a header.

    >>> print(Table(title="Takes", header=("take", "blur"), rows=[(Cell("a"), Cell("12.5"))]))
    take  blur
    a     12.5
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.rows]

    def __str__(self) -> str:
        lines = [list(self.header), *self.texts()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.header))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    __repr__ = table_lines
    _repr_html_ = table_html

    def csv(self) -> str:
        """The table as CSV, numbers as stored; text that a spreadsheet would run as a formula is defused."""
        return csv_text(self.header, ([cell.value for cell in row] for row in self.rows))

    def as_dict(self) -> dict[str, object]:
        """Plain data: every cell its text, and of a number its signature, value and what it is about."""
        rows = [[_cell_dict(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "header": list(self.header), "rows": rows}


def number(measurement: Measurement | None, *, digits: int | None = None) -> Cell:
    """A cell for a measurement; a dash where there is none."""
    return Cell("–") if measurement is None else Cell(value_text(measurement, digits=digits), measurement)


def interval_cell(measurement: Measurement | None, *, digits: int | None = None) -> Cell:
    """A measurement's interval in words, "980 to 1020"; a dash where there is none."""
    if measurement is None or measurement.interval is None:
        return Cell("–")
    return Cell(ends_text(measurement) if digits is None else measurement.interval.text(digits=digits))


def exact_text(measurement: Measurement) -> str:
    """The value as the run's file has it; "–" where there is none."""
    value = measurement.stored_value
    if value is None or isinstance(value, bool):
        return value_text(measurement)
    return repr(value)


def csv_cell(value: object) -> str:
    """One cell of a CSV file: null is empty, text that a spreadsheet would run gets a leading apostrophe.

    >>> csv_cell(None), csv_cell(True), csv_cell(0.5), csv_cell("=1+1")
    ('', 'true', '0.5', "'=1+1")
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str) else repr(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file of these cells."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell_dict(cell: Cell) -> dict[str, object]:
    return {"text": cell.text} | ({} if cell.measurement is None else cell.measurement.as_dict())
