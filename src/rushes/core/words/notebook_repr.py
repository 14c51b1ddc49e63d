"""How results show themselves: one short line in a session, a small table in a notebook.

A result may hold a million numbers, so `brief` shows what it is and how much it has. The HTML is self-contained: no
script, no request; every text is escaped, and a number has its signature where the pointer rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rushes.core.words.html_table import Look, hover, html

if TYPE_CHECKING:
    from rushes.core.measurement import Measurement
    from rushes.core.table import Table

LONGEST = 200
"""Characters of a short line."""
ROWS = 20
COLUMNS = 8
_TEXT = 48
_RIGHT = ' style="text-align:right"'
_NOTEBOOK = Look(
    left=' style="text-align:left"',
    right=_RIGHT,
    number=lambda cell: (_RIGHT + hover(cell), escape(cell.text)),
)


def brief(self: Any) -> str:
    """A dataclass in one line: texts and numbers as they are, of everything else how much there is.

        <PoseEvaluation run='runs/pose', measurements: 120, warnings: 1>

    To be the `__repr__` of a class: `__repr__ = brief`.
    """
    parts = [_part(field.name, getattr(self, field.name)) for field in fields(self) if not field.name.startswith("_")]
    return cut(f"<{type(self).__name__} {', '.join(part for part in parts if part)}", LONGEST - 1) + ">"


def _part(name: str, value: object) -> str:
    if value is None or value == "" or value == () or value == {}:
        return ""
    if isinstance(value, str | PurePath):
        return f"{name}={cut(str(value), 12 if name.endswith('sha256') else _TEXT)!r}"
    if isinstance(value, bool | int | float):
        return f"{name}={value!r}"
    if isinstance(value, Mapping | Sequence | frozenset | set):
        return f"{name}: {len(value)}"
    place = next((text for key in ("place", "name", "id") if (text := getattr(value, key, None))), None)
    return f"{name}={place!r}" if isinstance(place, str) else ""


def cut(text: str, most: int) -> str:
    """
    >>> cut("a long sentence", 8)
    'a long …'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def measurement_line(m: Measurement) -> str:
    """ "<psnr 31.5574 dB, 11.7374 to 51.3775, N 3, system amber · psnr|plane:rgb|v:1>"."""
    from rushes.core.words.definition_text import value_text

    unit = "" if m.definition.unit in ("1", "ratio") or m.value is None else f" {m.definition.unit}"
    sure = "" if m.interval is None else f", {m.interval.text()}"
    about = "".join(f", {key} {value}" for key, value in m.at)
    why = f", {m.note}" if m.value is None and m.note else ""
    head = f"{m.name} {value_text(m)}{unit}{sure}, N {m.count}{about}{why}"
    return f"<{cut(head, LONGEST)} · {m.signature}>"


def table_lines(table: Table) -> str:
    """A table's first rows as text, and how many more there are."""
    left = len(table.rows) - ROWS
    shown = table if left <= 0 else replace(table, rows=table.rows[:ROWS])
    return str(shown) + (f"\n… and {left} more rows" if left > 0 else "")


def table_html(table: Table, *, rows: int = ROWS, columns: int = COLUMNS) -> str:
    """A table for a notebook: its first rows and columns, and how many more there are."""
    left = [
        f"{len(every) - most} more {word}"
        for every, most, word in ((table.rows, rows, "rows"), (table.columns, columns, "columns"))
        if len(every) > most
    ]
    more = f"<p>… and {', '.join(left)}</p>" if left else ""
    shown = replace(table, columns=table.columns[:columns], rows=[row[:columns] for row in table.rows[:rows]])
    return html(shown, _NOTEBOOK, title=table.title) + more


def numbers_html(measurements: Iterable[Measurement]) -> str:
    """Measurements one below the other: name, value, interval, N, unit, and what each is about."""
    from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number

    rows = [
        (
            Cell(m.name),
            number(m),
            interval_cell(m),
            Cell(str(m.count)),
            Cell("" if m.definition.unit == "1" else m.definition.unit),
            Cell(", ".join(f"{key} {value}" for key, value in (*m.at, *m.definition.named_params))),
        )
        for m in measurements
    ]
    columns = (*TEXT("metric"), *NUMBER("value"), *INTERVAL("interval"), *COUNT("N"), *TEXT("unit", "about"))
    return table_html(Table(title="", columns=columns, rows=rows))


def page_html(*parts: str) -> str:
    return f"<div>{''.join(parts)}</div>"


def line_html(text: str) -> str:
    return f"<p>{escape(text)}</p>"
