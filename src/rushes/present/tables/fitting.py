"""Which layout of a table fits a given width: letter widths of Computer Modern, sizes, blocks.

A paper's columns are narrow: 229 pt for one of two in LaTeX's article, 469 pt for both. The table is set in the largest
letters that fit, never below \\scriptsize; intervals go below their values, then rows and columns change places, then
the columns are set in blocks one below the other. The width is estimated from the fonts' own metrics, a little too
large, so that pdflatex has no overfull box.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rushes.core.table import TEXT, Cell, Column, Table

Width: TypeAlias = Literal["one", "two"]
WIDTHS: dict[str, float] = {"one": 229.0, "two": 469.0}
"""Points of one and of both columns of a two-column article on letter paper; CVPR's and IEEE's are wider."""
_SIZES = {"small": 9 * 1.028, "footnotesize": 8 * 1.0625, "scriptsize": 7 * 1.139}
"""Points of an em of cmr10, as letters of these sizes are: smaller fonts are wider in proportion."""
_MARGIN = 1.03
_WIDE = {"m": 0.833, "w": 0.722, "i": 0.278, "l": 0.278, "j": 0.306, "t": 0.389, "f": 0.306, "r": 0.392, "s": 0.394}
_WIDE |= {".": 0.278, ",": 0.278, ":": 0.278, ";": 0.278, "'": 0.278, " ": 0.333, "-": 0.333, "(": 0.389, ")": 0.389}
_WIDE |= {"[": 0.278, "]": 0.278, "±": 0.778, "−": 0.778, "×": 0.778, "%": 0.833, "W": 1.028, "M": 0.917, "I": 0.361}
_WIDE |= {"_": 0.36, "↑": 0.5, "↓": 0.5, "–": 0.5, "…": 1.17}
_BOLD = 1.15
"""Bold digits against upright ones."""
_RAISED = 0.75
_BREAKS = re.compile(r"[^\s_\-/.]*[\s_\-/.]+|[^\s_\-/.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a table is set."""

    blocks: tuple[Table, ...]
    """One below the other, each with the first column."""
    size: str
    """Of the letters: small, footnotesize, scriptsize."""
    gap: float
    """Points on each side of a column: \\tabcolsep."""
    under: bool
    """Whether what stands beside a value goes below it."""
    lines: int
    """Most lines of a head."""


def fitted(table: Table, width: Width, *, under: bool = False) -> Layout:
    """The first layout that fits, the most legible first.

    >>> from rushes.core.table import NUMBER
    >>> heads = (*TEXT("System"), *NUMBER(*(f"metric_{n}" for n in range(6))))
    >>> table = Table(title="", columns=heads, rows=[[Cell("amber"), *[Cell("0.1234", beside="± 0.0123")] * 6]])
    >>> [(len(one.blocks), one.size, one.under) for one in (fitted(table, "two"), fitted(table, "one"))]
    [(1, 'footnotesize', False), (1, 'footnotesize', True)]
    """
    room = WIDTHS[width]
    every = list(_candidates(table, under))
    return next((one for one in every if all(_points(block, one) <= room for block in one.blocks)), every[-1])


def _candidates(table: Table, under: bool) -> Iterator[Layout]:
    has_beside = any(cell.beside for row in table.rows for cell in row)
    stacks = [True] if under or not has_beside else [False, True]
    turned = transposed(table)
    for stack in stacks:
        for size, gap, lines in (("small", 5.0, 2), ("footnotesize", 4.0, 2), ("footnotesize", 3.0, 3)):
            yield Layout(blocks=(table,), size=size, gap=gap, under=stack and has_beside, lines=lines)
    is_long = len(table.columns) > len(turned.columns)
    for one in (turned, table) if is_long else (table, turned):
        for size, gap in (("footnotesize", 3.0), ("scriptsize", 2.5)):
            yield Layout(blocks=(one,), size=size, gap=gap, under=has_beside, lines=3)
    for parts in range(2, len(table.columns)):
        yield Layout(blocks=tuple(_blocks(table, parts)), size="footnotesize", gap=3.0, under=has_beside, lines=3)


def transposed(table: Table) -> Table:
    """Metrics as rows, systems as columns; the number of a footnote goes with its metric."""
    first, *rest = table.columns
    heads = [Column(row[0].text, kind=rest[0].kind if rest else TEXT) for row in table.rows]
    rows = [
        (Cell(column.head, raised=column.mark), *(row[place] for row in table.rows))
        for place, column in enumerate(rest, 1)
    ]
    return replace(table, columns=(replace(first, head="Metric"), *heads), rows=rows)


def _blocks(table: Table, parts: int) -> Iterator[Table]:
    many = len(table.columns) - 1
    size = -(-many // parts)
    for start in range(1, many + 1, size):
        places = [0, *range(start, min(start + size, many + 1))]
        yield replace(
            table,
            columns=[table.columns[place] for place in places],
            rows=[[row[place] for place in places] for row in table.rows],
        )


def _points(table: Table, layout: Layout) -> float:
    """Width of a block as pdflatex sets it, without a gap at its two ends."""
    em, small = _SIZES[layout.size], _SIZES["scriptsize"]
    total = 0.0
    for place, column in enumerate(table.columns):
        widths = [em * _ems(line) for line in head_lines(column.head, layout.lines)]
        widths[-1] += em * _RAISED * _ems(column.mark)
        for row in table.rows:
            widths += _cell_points(row[place], em, small, layout.under)
        total += max(widths)
    return _MARGIN * total + 2 * layout.gap * (len(table.columns) - 1)


def _cell_points(cell: Cell, em: float, small: float, under: bool) -> list[float]:
    value = em * (_ems(cell.text) * (_BOLD if cell.bold else 1) + _RAISED * _ems(cell.raised))
    if not cell.beside:
        return [value]
    return [value, small * _ems(cell.beside)] if under else [value + em * _ems(f" {cell.beside}")]


def _ems(text: str) -> float:
    return sum(_WIDE.get(letter, 0.75 if letter.isupper() or ord(letter) > 591 else 0.53) for letter in text)


def head_lines(head: str, lines: int) -> list[str]:
    """A head in at most so many lines, broken behind a space, "_", "-", "/" or "."; an arrow stays with its word.

    >>> head_lines("temporal_inconsistency ↓", 2), head_lines("PSNR ↑", 3), head_lines("a b c", 1)
    (['temporal_', 'inconsistency ↓'], ['PSNR ↑'], ['a b c'])
    """
    name, _, arrow = head.rpartition(" ")
    tail = f" {arrow}" if arrow in ("↑", "↓") else ""
    parts = _BREAKS.findall(name if tail else head)
    if lines < 2 or len(parts) < 2:
        return [head]
    best = min(_splits(parts, min(lines, len(parts))), key=lambda split: (_widest(split, tail), len(split)))
    return [*(line.rstrip() for line in best[:-1]), best[-1].rstrip() + tail]


def _widest(split: Sequence[str], tail: str) -> float:
    return max(_ems(line) for line in [*split[:-1], split[-1] + tail])


def _splits(parts: Sequence[str], lines: int) -> Iterator[list[str]]:
    """Every way to set the parts in up to so many lines, in order."""
    yield ["".join(parts)]
    if lines < 2:
        return
    for at in range(1, len(parts)):
        for rest in _splits(parts[at:], lines - 1):
            yield ["".join(parts[:at]), *rest]
