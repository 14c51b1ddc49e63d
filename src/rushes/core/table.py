"""A table of numbers, drawn once: terminal, page, CSV, LaTeX, Markdown and charts all show the same cells.

A column says what kind of thing it holds; how it is set follows from that alone. Each format has one renderer:
`terminal.layout`, `core.html_table`, `present.markdown`, `present.latex`, and `csv_text` here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rushes.core.estimate import Value
from rushes.core.measurement import Measurement
from rushes.core.words.definition_text import ends_text, value_text
from rushes.core.words.notebook_repr import table_html, table_lines

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}


class Kind(StrEnum):
    """What a column holds. Called with heads, it makes columns of its kind.

    >>> [column.head for column in (*TEXT("clip"), *NUMBER("psnr ↑", "ssim ↑"))]
    ['clip', 'psnr ↑', 'ssim ↑']
    """

    TEXT = "text"
    NUMBER = "number"
    INTERVAL = "interval"
    COUNT = "count"
    SIGNATURE = "signature"

    def __call__(self, *heads: str, keep: bool = False) -> tuple[Column, ...]:
        return tuple(Column(head, self, keep=keep) for head in heads)

    @property
    def right(self) -> bool:
        """Whether its cells stand at the right, digit below digit."""
        return self in (Kind.NUMBER, Kind.INTERVAL, Kind.COUNT)


TEXT, NUMBER, INTERVAL, COUNT, SIGNATURE = Kind


@dataclass(frozen=True, slots=True)
class Column:
    """A head and the kind of what stands below it."""

    head: str
    kind: Kind = TEXT
    mark: str = ""
    """The number of its footnote."""
    keep: bool = False
    """Whether a narrow window may not leave it out."""

    def marked(self, escaped: Callable[[str], str], mark: str) -> str:
        """The head with the number of its footnote, as a format spells both: behind the name, before an arrow."""
        name, space, arrow = self.head.rpartition(" ")
        if arrow in ("↑", "↓"):
            return f"{escaped(name)}{mark}{space}{escaped(arrow)}"
        return f"{escaped(self.head)}{mark}"


@dataclass(frozen=True, slots=True)
class Cell:
    """Words, or a number that can be asked for its signature."""

    text: str
    measurement: Measurement | None = None
    beside: str = ""
    """How sure it is, in formats that show it in the same cell: "± 0.2", "[0.1, 0.5]"."""
    raised: str = ""
    """Set small above it: letters of systems that cannot be told apart, or the number of a footnote."""
    bold: bool = False
    underlined: bool = False

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
class Footnote:
    """How the numbers of one column or row were measured, and on what."""

    mark: int
    signature: str
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under columns, with what stands below them.

    >>> print(Table(title="Takes", columns=(*TEXT("take"), *NUMBER("blur")), rows=[(Cell("a"), Cell("12.5"))]))
    take  blur
    a     12.5
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    footnotes: Sequence[Footnote] = ()
    notes: Sequence[str] = ()

    @property
    def header(self) -> tuple[str, ...]:
        return tuple(column.head for column in self.columns)

    def texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.rows]

    def footnoted(self, signatures: Sequence[str], more: Sequence[str] = ()) -> Table:
        """The table with the number of a footnote at the head of each row, and below it each signature once.

        `more` are signatures that no row points to.
        """
        marks = {signature: mark for mark, signature in enumerate(dict.fromkeys((*signatures, *more)), 1)}
        rows = [
            (replace(row[0], raised=str(marks[signature])), *row[1:])
            for row, signature in zip(self.rows, signatures, strict=True)
        ]
        notes = [Footnote(mark=mark, signature=signature) for signature, mark in marks.items()]
        return replace(self, rows=rows, footnotes=notes)

    def __str__(self) -> str:
        lines = [list(self.header), *self.texts()]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.columns))]
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


def heads_by_mark(table: Table) -> dict[str, str]:
    """By the number of a footnote, the heads of the columns that it is about."""
    heads: dict[str, list[str]] = {}
    for column in table.columns:
        for mark in filter(None, column.mark.split(", ")):
            heads.setdefault(mark, []).append(column.head)
    return {mark: ", ".join(names) for mark, names in heads.items()}


def legend(table: Table) -> str:
    """Title and caption, for formats that set them as one."""
    return ". ".join(filter(None, (table.title, table.caption)))


def word_table(title: str, columns: Sequence[Column | str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of plain words; a column that is a head alone is one of text."""
    made = [Column(column) if isinstance(column, str) else column for column in columns]
    return Table(title=title, columns=made, rows=[tuple(map(Cell, row)) for row in rows])


def number(measurement: Measurement | None, *, digits: int | None = None) -> Cell:
    """A cell for a measurement; a dash where there is none. The number behind it is whole.

    >>> from rushes.core import Definition
    >>> d = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
    >>> values = [Measurement(definition=d, value=v, count=1) for v in (0.14886101, 54.5, 748.81, 3, 3.0, 0.0001793)]
    >>> [number(m).text for m in values], number(None).text
    (['0.1489', '54.50', '748.8', '3', '3', '0.0001793'], '–')
    """
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
