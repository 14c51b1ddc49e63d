"""A paper's table as LaTeX that pdflatex takes as it is: nothing but ASCII, no package but booktabs."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rushes.suite.paper_markdown import interval_text, number_text

if TYPE_CHECKING:
    from rushes.suite.paper_grid import TableColumn
    from rushes.suite.paper_table import PaperTable

_NARROW = 5
"""Columns that fit into one of two columns of text; more of them go over both, in smaller letters."""
_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "neither": ""}
_SPELT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "`": r"\`{}",
    '"': "''",
    "[": "{[}",  # the end of a row takes what is in brackets, or a star, for its own
    "]": "{]}",
    "*": "{*}",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\to$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "°": r"$^\circ$",
    "µ": r"$\mu$",
    "…": r"\dots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "ß": r"\ss{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "å": r"\aa{}",
    "Å": r"\AA{}",
    "\N{NO-BREAK SPACE}": "~",
}
_BREAK = r"|\allowbreak "
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": r"\`",
    "\N{COMBINING ACUTE ACCENT}": r"\'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": r"\^",
    "\N{COMBINING TILDE}": r"\~",
    "\N{COMBINING DIAERESIS}": r"\"",
    "\N{COMBINING MACRON}": r"\=",
    "\N{COMBINING BREVE}": r"\u",
    "\N{COMBINING DOT ABOVE}": r"\.",
    "\N{COMBINING CARON}": r"\v",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": r"\H",
    "\N{COMBINING CEDILLA}": r"\c",
}


def latex(table: PaperTable, *, booktabs: bool) -> str:
    """A `table` environment: caption, numbers, then the signatures and the notes in small print."""
    top, middle, bottom = (r"\toprule", r"\midrule", r"\bottomrule") if booktabs else (r"\hline",) * 3
    heads = ["System", *(_head(column) for column in table.columns)]
    rows = [
        [escaped(system), *(_cell(column, place, table.interval) for column in table.columns)]
        for place, system in enumerate(table.systems)
    ]
    wide = len(table.columns) > _NARROW
    environment = "table*" if wide else "table"
    lines = [r"% \usepackage{booktabs} in the preamble"] if booktabs else []
    lines += [rf"\begin{{{environment}}}[t]", r"\centering"]
    lines += [rf"\caption{{{escaped(table.caption)}}}"] if table.caption else []
    lines += [r"\small\setlength{\tabcolsep}{3pt}"] if wide else []
    lines += [rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}", top, _line(heads), middle]
    lines += [*map(_line, rows), bottom, r"\end{tabular}", r"\par\smallskip", r"{\footnotesize\raggedright"]
    lines += [
        rf"\textsuperscript{{{note.mark}}}~{code(note.signature)}: {escaped(note.remark)}\par"
        for note in table.footnotes
    ]
    lines += [rf"{escaped(note)}\par" for note in table.notes]
    return "\n".join([*lines, "}", rf"\end{{{environment}}}"]) + "\n"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _head(column: TableColumn) -> str:
    mark = "" if column.mark is None else rf"\textsuperscript{{{column.mark}}}"
    return f"{escaped(column.title)}{mark}{_ARROWS[column.column.better]}"


def _cell(column: TableColumn, place: int, interval: bool) -> str:
    reading = column.readings[place]
    if reading is None or reading.measurement.value is None:
        return "--"
    text = _number(number_text(float(reading.measurement.value), column.digits), bold=column.best == place)
    ends = [_number(end) for end in interval_text(reading, column.digits)] if interval else []
    if len(ends) == 2:
        return rf"{text} [{ends[0]}, {ends[1]}]"
    return rf"{text} $\pm$ {ends[0]}" if ends else text


def _number(text: str, *, bold: bool = False) -> str:
    r"""A number as it is set: a minus and a power of ten are mathematics.

    >>> _number("23.30"), _number("-0.25"), _number("3.12e-04"), _number("23.30", bold=True)
    ('23.30', '$-0.25$', '$3.12\\times10^{-4}$', '\\textbf{23.30}')
    """
    digits, power, exponent = text.partition("e")
    if not power and not digits.startswith("-"):
        return rf"\textbf{{{text}}}" if bold else text
    value = rf"{digits}\times10^{{{int(exponent)}}}" if power else digits
    return rf"$\mathbf{{{value}}}$" if bold else f"${value}$"


def code(signature: str) -> str:
    r"""A signature in typewriter letters, which have a bar of their own; a line may break behind each.

    >>> code("pck|k:20|norm:bbox_diagonal|v:1")
    '\\texttt{pck|\\allowbreak k:20|\\allowbreak norm:bbox\\_diagonal|\\allowbreak v:1}'
    """
    parts = map(escaped, signature.split("|"))
    return rf"\texttt{{{_BREAK.join(parts)}}}"


def escaped(text: str) -> str:
    r"""Words of any kind as LaTeX: special letters spelt out, two hyphens kept apart, the rest ASCII.

    A letter that pdflatex has no font for by itself (Greek, Chinese) is written as its number.

    >>> escaped("A_b & 50 %, --cut"), escaped("Zoë, Łódź"), escaped("α")
    ('A\\_b \\& 50 \\%, -{}-cut', 'Zo\\"{e}, \\L{}\\\'{o}d\\\'{z}', '{[}U+03B1{]}')
    """
    line = " ".join(text.split())
    return re.sub(r"(?P<joined>-(?=-))|.", lambda found: "-{}" if found["joined"] else _letter(found[0]), line)


def _letter(letter: str) -> str:
    if letter in _SPELT:
        return _SPELT[letter]
    if letter.isascii() and letter.isprintable():
        return letter
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if len(marks) == 1 and base.isascii() and marks[0] in _ACCENTS:
        return f"{_ACCENTS[marks[0]]}{{{base}}}"
    return f"{{[}}U+{ord(letter):04X}{{]}}"
