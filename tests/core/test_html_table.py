"""A table as HTML: set by kinds, escaped, in the dress of its page."""

from __future__ import annotations

from html import escape

from rushes.core import Definition, Measurement
from rushes.core.table import COUNT, NUMBER, TEXT, Cell, Table, number
from rushes.core.words.html_table import Look, hover, html

D = Definition(name="x", unit="1", lowest=None, highest=None, better="neither", summary="s", formula="f")
LOOK = Look(table=' class="t"', right=' class="r"', number=lambda cell: (hover(cell), f"<b>{escape(cell.text)}</b>"))


def test_heads_and_cells_are_set_by_the_kind_of_their_column() -> None:
    columns = (*TEXT("who"), *NUMBER("x"), *COUNT("N"), *TEXT("note"))
    row = (Cell("a"), number(Measurement(definition=D, value=2.0, count=3)), Cell("3"), Cell("2"))
    assert html(Table(title="ignored", columns=columns, rows=[row]), LOOK) == (
        '<table class="t"><thead><tr><th scope="col">who</th><th scope="col" class="r">x</th>'
        '<th scope="col" class="r">N</th><th scope="col">note</th></tr></thead>'
        '<tbody><tr><th scope="row">a</th><td title="x|v:1 · N 3"><b>2</b></td>'
        '<td class="r">3</td><td>2</td></tr></tbody></table>'
    )


def test_nothing_in_it_is_markup() -> None:
    sly = '"><script>'
    found = html(Table(title="", columns=TEXT(sly, "b"), rows=[(Cell(sly), Cell(sly))]), LOOK, title=sly)
    assert "<script" not in found and found.count("&lt;script&gt;") == 4
