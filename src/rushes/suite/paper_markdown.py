"""A paper's table as Markdown and as CSV, and its numbers as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rushes.core.table import ARROWS, csv_text
from rushes.suite.paper_systems import Reading

if TYPE_CHECKING:
    from rushes.suite.paper_grid import TableColumn
    from rushes.suite.paper_table import PaperTable

DASH = "–"
_SMALL = 0.01
"""Below this a value keeps two digits at the least."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number_text(value: float, digits: int) -> str:
    """A value with this many decimals; a small one that would lose too much by it is written with a power of ten.

    >>> number_text(23.304, 2), number_text(0.000312, 4), number_text(-0.25, 2), number_text(0.0, 4)
    ('23.30', '3.12e-04', '-0.25', '0.0000')
    """
    least = max(_vanishing(digits), min(10.0 ** (1 - digits), _SMALL))
    return f"{value:.2e}" if 0 < abs(value) < least else f"{value:.{digits}f}"


def _vanishing(digits: int) -> float:
    """Below this nothing is left to see."""
    return 0.5 * 10.0**-digits


def interval_text(reading: Reading, digits: int) -> tuple[str, ...]:
    """One text, half the width, where the value is the middle as far as the digits show; else both ends.

    () where the number has no interval.
    """
    m = reading.measurement
    if m.interval is None or m.value is None:
        return ()
    value, low, high = float(m.value), m.interval.low, m.interval.high
    step = 10.0 ** -(digits if "e" not in number_text(value, digits) else 8)
    if abs((high - value) - (value - low)) <= step:
        return (_width(value, (high - low) / 2, digits),)
    return _width(value, low, digits), _width(value, high, digits)


def _width(value: float, width: float, digits: int) -> str:
    """Written as the value beside it is, as long as anything is left to see of it."""
    vanishes = 0 < abs(width) < _vanishing(digits)
    return f"{width:.2e}" if vanishes or "e" in number_text(value, digits) else f"{width:.{digits}f}"


def markdown(table: PaperTable) -> str:
    """A pipe table; below it the caption, the signatures by number, and the notes."""
    heads = ["System", *(_head(column) for column in table.columns)]
    rows = [
        [plain_words(system), *(_cell(column, place, table.interval) for column in table.columns)]
        for place, system in enumerate(table.systems)
    ]
    lines = [_line(heads), _line([":---", *("---:" for _ in table.columns)]), *map(_line, rows)]
    lines += ["", plain_words(table.caption), ""] if table.caption else [""]
    lines += [f"{note.mark}. {code_span(note.signature)}: {plain_words(note.remark)}" for note in table.footnotes]
    if table.notes:
        lines += ["", *(f"- {plain_words(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: TableColumn) -> str:
    mark = "" if column.mark is None else str(column.mark).translate(_RAISED)
    return f"{plain_words(column.title)}{mark} {ARROWS[column.column.better]}".rstrip()


def _cell(column: TableColumn, place: int, interval: bool) -> str:
    reading = column.readings[place]
    if reading is None or reading.measurement.value is None:
        return DASH
    text = number_text(float(reading.measurement.value), column.digits)
    text = f"**{text}**" if column.best == place else text
    ends = interval_text(reading, column.digits) if interval else ()
    if len(ends) == 2:
        return f"{text} [{ends[0]}, {ends[1]}]"
    return f"{text} ± {ends[0]}" if ends else text


def plain_words(text: str) -> str:
    """Plain words: nothing in them is markup, and a name cannot end its cell or its line."""
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(text.split()))
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", line)


def code_span(text: str) -> str:
    """A code span, fenced by more backticks than the text has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"


_HEADER = ("system", "column", "value", "low", "high", "level", "method", "clips", "note", "signature")


def csv(table: PaperTable) -> str:
    """One row per number, as stored; a cell without a number has its reason in the notes of the other formats."""
    rows: list[list[object]] = []
    for place, system in enumerate(table.systems):
        for column in table.columns:
            reading = column.readings[place]
            if reading is None:
                rows.append([system, column.column.name, *[None] * 7, ""])
                continue
            m = reading.measurement
            drawn = {} if m.interval is None else m.interval.as_dict()
            ends = [drawn.get(key) for key in ("low", "high", "level", "method")]
            rows.append([system, column.column.name, m.stored_value, *ends, reading.rests_on, m.note, m.signature])
    return csv_text(_HEADER, rows)
