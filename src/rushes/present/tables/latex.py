"""A table as LaTeX that pdflatex takes as it is: nothing but ASCII, no package but booktabs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal, TypeAlias

from rushes.core.table import Cell, Column, Table, heads_by_mark, legend
from rushes.present.tables.fitting import Layout, Width, fitted, head_lines

Signatures: TypeAlias = Literal["footnote", "comment", "appendix", "none"]
"""Where a table's signatures go."""

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
_BREAK, _INNER_BREAK = r"|\allowbreak ", r";\allowbreak "
"""Between the parts of a signature, and of one that stands inside another."""
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


def latex(
    table: Table,
    *,
    booktabs: bool = True,
    width: Width | None = None,
    under: bool = False,
    signatures: Signatures = "footnote",
    label: str = "",
) -> str:
    r"""A `table` environment: title and caption, the cells, then the signatures and the notes in small print.

    `width` fits it into one or both columns of a two-column paper (`fitting.fitted`); without one it is set as it is.
    `under` sets intervals below their values. `signatures` says where signatures and notes go: below the table, into
    comments of the file, or nowhere ("none" and "appendix", for which `signature_list` makes a file of its own); notes
    are comments then.
    """
    natural = Layout(blocks=(table,), size="", gap=3.0 if len(table.columns) > _NARROW else 0, under=under, lines=1)
    layout = natural if width is None else fitted(table, width, under=under)
    wide = len(table.columns) > _NARROW if width is None else width == "two"
    environment = "table*" if wide else "table"
    marked = signatures == "footnote"
    lines = [r"% \usepackage{booktabs} in the preamble"] if booktabs else []
    lines += [] if marked else _comments(table, signatures)
    lines += [rf"\begin{{{environment}}}[t]", r"\centering"]
    lines += [rf"\caption{{{caption}}}"] if (caption := escaped(legend(table))) else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [r"\smallskip"] if caption and width is not None else []
    size = layout.size or ("small" if wide else "")
    lines += [rf"\{size}\setlength{{\tabcolsep}}{{{layout.gap:g}pt}}"] if size else []
    for number, block in enumerate(layout.blocks):
        lines += [r"\par\medskip"] if number else []
        lines += _tabular(block, layout, booktabs, marked, tight=width is not None)
    if marked and (table.footnotes or table.notes):
        lines += [r"\par\smallskip", r"{\footnotesize\raggedright", *_footnotes(table), "}"]
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def signature_list(table: Table) -> str:
    r"""What a table leaves to an appendix: the signature of each column by name, then the notes."""
    names = heads_by_mark(table)
    lines = [r"\begin{itemize}\raggedright"]
    for note in table.footnotes:
        remark = f" ({escaped(note.remark)})" if note.remark else ""
        head = escaped(names.get(str(note.mark), str(note.mark)))
        lines.append(rf"\item {head}: {code(note.signature)}{remark}")
    lines += [rf"\item {escaped(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{itemize}"]) + "\n"


def _footnotes(table: Table) -> list[str]:
    lines = []
    for note in table.footnotes:
        remark = f": {escaped(note.remark)}" if note.remark else ""
        lines.append(rf"{_raised(str(note.mark))}~{code(note.signature)}{remark}\par")
    return [*lines, *(rf"{escaped(note)}\par" for note in table.notes)]


_PLAIN = {
    " ↑": "",
    " ↓": "",
    "…": "...",
    " · ": "; ",
    "×": "x",
    "−": "-",
    "–": "-",
    "±": "+-",
    "ρ": "rho",
    "τ": "tau",
}
"""What comments say in ASCII, which every engine reads."""


def _comments(table: Table, signatures: Signatures) -> list[str]:
    """Signatures and notes where only a reader of the file sees them, ASCII as all of it."""
    heads = heads_by_mark(table)
    lines = []
    if signatures == "comment":
        for note in table.footnotes:
            lines.append(
                f"{heads.get(str(note.mark), note.mark)}: {note.signature}{f': {note.remark}' * bool(note.remark)}"
            )
    return [f"% {_ascii(line)}" for line in (*lines, *table.notes)]


def _ascii(text: str) -> str:
    line = " ".join(text.split())
    for sign, plain in _PLAIN.items():
        line = line.replace(sign, plain)
    return line.encode("ascii", "backslashreplace").decode()


def _tabular(block: Table, layout: Layout, booktabs: bool, marked: bool, *, tight: bool) -> list[str]:
    top, middle, bottom = (r"\toprule", r"\midrule", r"\bottomrule") if booktabs else (r"\hline",) * 3
    kinds = "".join("r" if column.kind.right else "l" for column in block.columns)
    edge = "@{}" if tight else ""
    heads = [_head(column, layout.lines, marked) for column in block.columns]
    lines = [rf"\begin{{tabular}}{{{edge}{kinds}{edge}}}", top, _line(heads), middle]
    for place, row in enumerate(block.rows):
        cells = [
            _cell(cell, column, beside=not layout.under, marked=marked)
            for cell, column in zip(row, block.columns, strict=True)
        ]
        lines.append(_line(cells))
        if layout.under and any(cell.beside for cell in row):
            lines[-1] += "[-2pt]"
            below = (rf"{{\scriptsize {_numbers(cell.beside)}}}" if cell.beside else "" for cell in row)
            lines.append(_line(below) + ("[1pt]" if place < len(block.rows) - 1 else ""))
    return [*lines, bottom, r"\end{tabular}"]


def _head(column: Column, most: int, marked: bool) -> str:
    mark = _raised(column.mark) if marked else ""
    lines = head_lines(column.head, most)
    last = Column(lines[-1]).marked(escaped, mark)
    if len(lines) == 1:
        return last
    side = "r" if column.kind.right else "l"
    return (
        rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}" + r"\\".join([*map(escaped, lines[:-1]), last]) + r"\end{tabular}"
    )


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _raised(text: str) -> str:
    return rf"\textsuperscript{{{escaped(text)}}}" if text else ""


def _cell(cell: Cell, column: Column, *, beside: bool, marked: bool) -> str:
    text = _numbers(cell.text, bold=cell.bold) if column.kind.right else escaped(cell.text)
    text = rf"\underline{{{text}}}" if cell.underlined else text
    raised = "" if not marked and cell.raised.isdigit() else _raised(cell.raised)
    return f"{text}{raised} {_numbers(cell.beside) if beside else ''}".rstrip()


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
    parts = (_INNER_BREAK.join(map(escaped, part.split(";"))) for part in signature.split("|"))
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
