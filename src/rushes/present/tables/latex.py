"""A table as LaTeX that pdflatex takes as it is: nothing but ASCII, no package but booktabs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rushes.core.table import Cell, Column, Table, legend

_NARROW = 6
"""Columns that fit into one of two columns of text; more of them go over both, in smaller letters."""
_NUMBER = re.compile(r"(?P<before>[\[(]?)(?P<digits>[-−]?\d[\d.,]*?)(?:e(?P<power>[-+]\d+))?(?P<after>[\]),]*)")
_NAMED = r"""
    \ textbackslash   ~ textasciitilde   ^ textasciicircum   | textbar   < textless   > textgreater   … dots
    ß ss   ø o   Ø O   ł l   Ł L   æ ae   Æ AE   å aa   Å AA
""".split()
_MATHEMATICS = r"""
    − -   × \times   ± \pm   · \cdot   ≤ \leq   ≥ \geq   → \to   ↑ \uparrow   ↓ \downarrow   ∞ \infty   ° ^\circ   µ \mu
    ρ \rho   τ \tau
""".split()
"""Letters and their names, by turns."""
_SPELT = {
    **{letter: rf"\{letter}" for letter in "{}_#$%&"},
    **{letter: f"{{{letter}}}" for letter in "[]*"},  # the end of a row takes brackets, or a star, for its own
    **{letter: rf"\{name}{{}}" for letter, name in zip(_NAMED[::2], _NAMED[1::2], strict=True)},
    **{letter: f"${name}$" for letter, name in zip(_MATHEMATICS[::2], _MATHEMATICS[1::2], strict=True)},
    "`": r"\`{}",
    '"': "''",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "–": "--",
    "—": "---",
    "\N{NO-BREAK SPACE}": "~",
}
_LETTERS = 55
"""As many fit into one of two columns of text."""
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
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


def latex(table: Table, *, booktabs: bool = True, fit: bool = False) -> str:
    """A `table` environment: title and caption, the cells, then the signatures and the notes in small print.

    `fit` makes the cells smaller where they would be wider than the text, with graphicx, and puts a table of many
    letters over both columns.
    """
    top, middle, bottom = (r"\toprule", r"\midrule", r"\bottomrule") if booktabs else (r"\hline",) * 3
    wide = len(table.columns) > _NARROW or (fit and _letters(table) > _LETTERS)
    environment = "table*" if wide else "table"
    caption = escaped(legend(table))
    kinds = "".join("r" if column.kind.right else "l" for column in table.columns)
    packages = ",".join(["booktabs"] * booktabs + ["graphicx"] * fit)
    lines = [rf"% \usepackage{{{packages}}} in the preamble"] if packages else []
    lines += [rf"\begin{{{environment}}}[t]", r"\centering"]
    lines += [rf"\caption{{{caption}}}"] if caption else []
    lines += [r"\small\setlength{\tabcolsep}{3pt}"] if wide else []
    heads = (column.marked(escaped, _raised(column.mark)) for column in table.columns)
    lines += [_FIT] if fit else []
    lines += [rf"\begin{{tabular}}{{{kinds}}}", top, _line(heads), middle]
    lines += [_line(map(_cell, row, table.columns)) for row in table.rows]
    lines += [bottom, r"\end{tabular}}" if fit else r"\end{tabular}", r"\par\smallskip", r"{\footnotesize\raggedright"]
    for note in table.footnotes:
        remark = f": {escaped(note.remark)}" if note.remark else ""
        lines.append(rf"{_raised(str(note.mark))}~{code(note.signature)}{remark}\par")
    lines += [rf"{escaped(note)}\par" for note in table.notes]
    return "\n".join([*lines, "}", rf"\end{{{environment}}}"]) + "\n"


def _letters(table: Table) -> int:
    """Of the widest row there could be."""
    texts = (
        [column.head, *(f"{row[k].text} {row[k].beside}" for row in table.rows)]
        for k, column in enumerate(table.columns)
    )
    return sum(max(map(len, column)) + 1 for column in texts)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _raised(text: str) -> str:
    return rf"\textsuperscript{{{escaped(text)}}}" if text else ""


def _cell(cell: Cell, column: Column) -> str:
    text = _numbers(cell.text, bold=cell.bold) if column.kind.right else escaped(cell.text)
    return f"{text}{_raised(cell.raised)} {_numbers(cell.beside)}".rstrip()


def _numbers(text: str, *, bold: bool = False) -> str:
    r"""Numbers as they are set: a minus and a power of ten are mathematics.

    >>> _numbers("23.30"), _numbers("-0.25"), _numbers("3.12e-04"), _numbers("23.30", bold=True)
    ('23.30', '$-0.25$', '$3.12\\times10^{-4}$', '\\textbf{23.30}')
    >>> _numbers("± 4.97"), _numbers("(−0.1 to 0.2)")
    ('$\\pm$ 4.97', '($-0.1$ to 0.2)')
    """
    return " ".join(_number(word, bold) for word in text.split())


def _number(word: str, bold: bool) -> str:
    found = _NUMBER.fullmatch(word)
    if found is None or not (found["power"] or found["digits"][0] in "-−"):
        return rf"\textbf{{{escaped(word)}}}" if bold else escaped(word)
    value = found["digits"].replace("−", "-") + (rf"\times10^{{{int(found['power'])}}}" if found["power"] else "")
    value = rf"$\mathbf{{{value}}}$" if bold else f"${value}$"
    return f"{escaped(found['before'])}{value}{escaped(found['after'])}"


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
