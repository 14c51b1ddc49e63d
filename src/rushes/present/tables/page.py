"""A table as a page of its own: no script, no request; every number has its signature where the pointer rests on it."""

from __future__ import annotations

from html import escape

from rushes.core.table import Cell, Column, Footnote, Table, legend
from rushes.core.words.html_table import hover

_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem}"
    "body{padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}th,td{padding:.35rem .7rem;text-align:right;"
    "white-space:nowrap;font-variant-numeric:tabular-nums}thead th{border-bottom:1px solid;border-top:2px solid}"
    "tbody tr:last-child>*{border-bottom:2px solid}th:first-child,.words{text-align:left}"
    "td.words{white-space:normal;min-width:9rem}small{opacity:.75}"
    "figcaption{margin:0 0 .8rem}ol,ul{font-size:.85rem}code{overflow-wrap:anywhere}figure{margin:0}"
)


def html_page(table: Table, *, under: bool = False) -> str:
    """Title and caption, the cells, the signatures by number, and the notes, in a page that opens offline."""
    words = [_words(column, place) for place, column in enumerate(table.columns)]
    columns = zip(table.columns, words, strict=True)
    heads = "".join(f'<th scope="col"{dress}>{_head(column)}</th>' for column, dress in columns)
    rows = "".join(
        f"<tr>{''.join(_cell(cell, place, words[place], under) for place, cell in enumerate(row))}</tr>"
        for row in table.rows
    )
    notes = "".join(f'<li value="{note.mark}">{_footnote(note)}</li>' for note in table.footnotes)
    remarks = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(table.title or 'Table')}</title><style>{_STYLE}</style></head><body><main>\n"
        f"<figure><figcaption>{escape(legend(table))}</figcaption>\n"
        f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></figure>\n"
        + (f"<ol>{notes}</ol>\n" if notes else "")
        + (f"<ul>{remarks}</ul>\n" if remarks else "")
        + "</main></body></html>\n"
    )


def _footnote(note: Footnote) -> str:
    return f"<code>{escape(note.signature)}</code>" + (f": {escape(note.remark)}" if note.remark else "")


def _head(column: Column) -> str:
    return column.marked(escape, f"<sup>{escape(column.mark)}</sup>" if column.mark else "")


def _words(column: Column, place: int) -> str:
    """How a column of words behind the first is set: to the left, and over several lines."""
    return ' class="words"' if place and not column.kind.right else ""


def _cell(cell: Cell, place: int, dress: str, under: bool) -> str:
    text = escape(cell.text)
    text = f"<strong>{text}</strong>" if cell.bold else f"<u>{text}</u>" if cell.underlined else text
    text += f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    beside = f"{'<br>' if under else ' '}<small>{escape(cell.beside)}</small>" if cell.beside else ""
    if place == 0:
        return f'<th scope="row">{text}</th>'
    return f"<td{dress}{hover(cell) if cell.measurement is not None else ''}>{text}{beside}</td>"
