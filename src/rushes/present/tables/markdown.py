"""A table as Markdown, and words of others as plain text in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rushes.core.table import Cell, Table, legend

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def markdown(table: Table, *, under: bool = False) -> str:
    """A pipe table; below it title and caption, the signatures by number, and the notes.

    `under` sets what belongs beside a value below it.
    """
    lines = [*pipe_lines(table, under=under), "", *([escaped(legend(table)), ""] if legend(table) else [])]
    for note in table.footnotes:
        remark = f": {escaped(note.remark)}" if note.remark else ""
        lines.append(f"{note.mark}. {code_span(note.signature)}{remark}")
    lines += ["", *(f"- {escaped(note)}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def pipe_lines(table: Table, *, under: bool = False) -> list[str]:
    """The table itself: heads, the line that says how each column is set, and the rows."""
    rule = ["---:" if column.kind.right else ":---" for column in table.columns]
    heads = [column.marked(escaped, column.mark.translate(_RAISED)) for column in table.columns]
    return [_line(heads), _line(rule), *(_line(_cell(cell, under) for cell in row) for row in table.rows)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, under: bool = False) -> str:
    lines = "<br>".join(map(escaped, cell.text.split("\n")))
    text = f"**{lines}**" if cell.bold else f"<u>{lines}</u>" if cell.underlined else lines
    between = "<br>" if under and cell.beside else " "
    return f"{text}{cell.raised.translate(_RAISED)}{between}{cell.beside}".rstrip()


def escaped(text: str) -> str:
    """Plain words: nothing in them is markup, and a name cannot end its cell or its line.

    >>> print(escaped("a|b <c> &amp; *d* AT&T"))
    a\\|b \\<c\\> \\&amp; \\*d\\* AT&T
    """
    line = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(text.split()))
    return re.sub(r"([\\`*_\[\]<>|]|&(?=#?\w+;))", r"\\\1", line)


def code_span(text: str) -> str:
    """A code span, fenced by more backticks than the text has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}" if fence == "`" else f"{fence} {text} {fence}"
