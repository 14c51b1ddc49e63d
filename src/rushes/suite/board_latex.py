"""A board's table as LaTeX: systems by the readings that say better and worse, with intervals and letters."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.suite.board_page_columns import BoardCell, BoardColumn
from rushes.suite.board_page_words import Opening
from rushes.suite.paper_latex import code, escaped

_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "neither": ""}
_NARROW = 5
"""Columns that fit into one of two columns of text."""


def board_latex(title: str, opening: Opening, systems: Sequence[str], columns: Sequence[BoardColumn]) -> str:
    r"""A `table` environment that pdflatex takes as it is, with booktabs alone.

    A cell is the value with its interval; bold where every other system is surely behind; the letters that systems
    share which cannot be told apart stand above it. Columns that only move are left out where others judge. Below the
    table are what the board found, how sure that is, and the signature of every column.
    """
    shown = [column for column in columns if column.judged] or list(columns)
    environment = "table*" if len(shown) > _NARROW else "table"
    heads = ["System", *(f"{_head(column)}{_mark(number)}" for number, column in enumerate(shown, 1))]
    rows = [[escaped(name), *(_cell(column.cells[place]) for column in shown)] for place, name in enumerate(systems)]
    notes = [
        rf"{_mark(number)}~{code(signature)}\par"
        for number, column in enumerate(shown, 1)
        for signature in column.signatures or (column.reading.definition.signature,)
    ]
    letters = "Systems that share a letter in a column cannot be told apart there; bold: every other one is behind."
    lines = [
        r"% \usepackage{booktabs} in the preamble",
        rf"\begin{{{environment}}}[t]",
        r"\centering",
        rf"\caption{{{escaped(f'{title}. {opening.found}')}}}",
        *([r"\small\setlength{\tabcolsep}{3pt}"] if environment == "table*" else []),
        rf"\begin{{tabular}}{{l{'r' * len(shown)}}}",
        r"\toprule",
        _line(heads),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        r"{\footnotesize\raggedright",
        *(rf"{escaped(words)}\par" for words in (letters, opening.sure) if words),
        *notes,
        "}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def _head(column: BoardColumn) -> str:
    return f"{escaped(column.reading.label)}{_ARROWS[column.reading.definition.better]}"


def _mark(number: int) -> str:
    return rf"\textsuperscript{{{number}}}"


def _cell(cell: BoardCell) -> str:
    if cell.text == "–":
        return "--"
    value = rf"\textbf{{{escaped(cell.text)}}}" if cell.best else escaped(cell.text)
    letters = rf"\textsuperscript{{{escaped(cell.letters)}}}" if cell.letters else ""
    ends = f" {{\\footnotesize ({escaped(cell.interval)})}}" if cell.interval else ""
    return f"{value}{letters}{ends}"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
