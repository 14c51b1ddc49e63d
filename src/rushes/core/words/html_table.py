"""A table as HTML, in the dress of the page it is for. Every text is escaped; the first cell of a row is its head."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rushes.core.table import Cell, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The attributes a page gives the parts of a table, each with a space before it, and how it shows a number."""

    table: str = ""
    left: str = ""
    right: str = ""
    number: Callable[[Cell], tuple[str, str]]
    """Attributes and content of a cell that holds a measurement."""
    text: Callable[[str], str] = escape
    """Content of any other cell of a column that is set to the right, such as an interval."""
    fold: bool = False
    """Whether signatures are behind an icon (`folded`), for pages with a style for it."""


def hover(cell: Cell) -> str:
    """What a number is measured by, over how many and why it is missing, where the pointer rests on it."""
    assert cell.measurement is not None
    words = filter(None, (cell.signature, f"N {cell.measurement.count}", cell.measurement.note))
    return f' title="{escape(" · ".join(words))}"'


SIGNATURE = "signature"
"""The head of a column of signatures."""


def folded(signature: str, inner: str = "") -> str:
    """A signature behind an icon that opens by click and by keyboard; `inner` shows it in another dress than code."""
    if not signature:
        return ""
    shown = inner or f"<code>{escape(signature)}</code>"
    return f'<details class="sig"><summary aria-label="Signature" title="Signature"></summary>{shown}</details>'


def html(table: Table, look: Look, *, title: str = "") -> str:
    """The `<table>`, with this title as its caption."""
    caption = f"<caption{look.left}>{escape(title)}</caption>" if title else ""
    heads = "".join(
        f'<th scope="col"{look.right if column.kind.right else look.left}>{escape(column.head)}</th>'
        for column in table.columns
    )
    rows = "".join(f"<tr>{''.join(_cells(table, row, look))}</tr>" for row in table.rows)
    return f"<table{look.table}>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(table: Table, row: Sequence[Cell], look: Look) -> Iterator[str]:
    for place, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
        if cell.measurement is not None:
            attributes, inner = look.number(cell)
            yield f"<td{attributes}>{inner}</td>"
        elif place == 0:
            yield f'<th scope="row"{look.left}>{escape(cell.text)}</th>'
        elif look.fold and column.head == SIGNATURE:
            yield f'<td class="sig-cell">{folded(cell.text)}</td>'
        else:
            right = column.kind.right
            yield f"<td{look.right if right else look.left}>{look.text(cell.text) if right else escape(cell.text)}</td>"
