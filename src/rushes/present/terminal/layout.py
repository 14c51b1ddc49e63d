"""A table as lines of text that fit a width: names are never broken, long words go under the row, columns give way.

Pure text in, pure text out; `console` decides how wide the window is and paints the cells.

What happens where a table is wider than the window, in this order:

0. columns without a single cell are not shown;
1. heads are broken at their spaces;
2. columns of prose (reasons, paths, signatures) are broken at their spaces, in a window of 110 columns or more; in a
   narrower one, or where a column would be too thin to read, they go under their row;
3. columns are left out from the right, but never the first two and those in `keep`; the caller says how many;
4. the name goes on a line of its own, and the other cells under it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from rushes.present.terminal.wrapping import cell_width, words, wrapped

GAP = 2
WIDE = 110
"""From so many columns on, prose stays in a column of its own."""
_PROSE = 28
"""A column of words whose longest cell is longer than this is prose."""
_THIN = 24
"""Prose in less than this is not read with pleasure."""
_INDENT = 2

Paint = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """The lines of a table, and the heads of the columns it has no room for."""

    lines: list[str]
    left_out: list[str]


def lay_out(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    numbers: Collection[int] = (),
    keep: Collection[int] = (),
    paint: Paint = str,
) -> Laid:
    """The table in `width` columns; `numbers` are set right, `keep` is never left out.

    >>> print("\\n".join(lay_out(["clip", "N"], [["a", "12"], ["bb", "3"]], width=20, numbers=[1]).lines))
    clip   N
    ────────
    a     12
    bb     3
    """
    sheet = _Sheet(header, rows, numbers)
    everything = [column for column in range(len(header)) if not column or not rows or sheet.longest(column)]
    under: list[int] = []
    widths = sheet.natural(everything)
    if _total(widths) > width:
        widths = sheet.heads_broken(everything)
    prose = [column for column in everything[1:] if sheet.is_prose(column)]
    if _total(widths) > width and prose:
        shared = sheet.shared(everything, prose, width) if width >= WIDE else None
        if shared is None:
            under = prose
            rest = [column for column in everything if column not in prose]
            widths = sheet.natural(rest)
            widths = widths if _total(widths) <= width else sheet.heads_broken(rest)
        else:
            widths = shared
    widths, left_out = _room(widths, width, keep, first=2)
    own_line = _total(widths) > width
    if own_line:  # the name alone is too long for what stands beside it: there is room for the others below it
        below = [column for column in everything[1:] if column not in under]
        widths, left_out = _room(sheet.heads_broken(below), width - _INDENT, keep, first=1)
    lines = [*_head(sheet, widths, own_line, width), *_body(sheet, widths, under, own_line, width, paint)]
    return Laid(lines=lines, left_out=[header[column] for column in left_out])


def _room(widths: dict[int, int], width: int, keep: Collection[int], *, first: int) -> tuple[dict[int, int], list[int]]:
    """What has room, and what has not, from the right; the first columns always have."""
    left_out: list[int] = []
    for column in reversed(list(widths)[first:]):
        if _total(widths) > width and column not in keep:
            left_out.insert(0, column)
            del widths[column]
    return widths, left_out


class _Sheet:
    """The cells of a table by column, and how wide each may be."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> None:
        self.header, self.rows, self.numbers = header, rows, set(numbers)

    def lines(self, column: int) -> Iterator[str]:
        for row in self.rows:
            yield from row[column].split("\n")

    def longest(self, column: int) -> int:
        return max(map(cell_width, self.lines(column)), default=0)

    def is_prose(self, column: int) -> bool:
        if column in self.numbers:
            return False
        return self.longest(column) > _PROSE or any("\n" in row[column] for row in self.rows)

    def natural(self, columns: Sequence[int]) -> dict[int, int]:
        return {column: max(self.longest(column), cell_width(self.header[column])) for column in columns}

    def heads_broken(self, columns: Sequence[int]) -> dict[int, int]:
        """Heads take two lines or three; a head's longest word stays whole."""
        return {column: max(self.longest(column), _word(self.header[column])) for column in columns}

    def shared(self, columns: Sequence[int], prose: Sequence[int], width: int) -> dict[int, int] | None:
        """Widths with the prose broken at spaces; None where a column would be too thin, or a word too long."""
        for widths in (self.natural(columns), self.heads_broken(columns)):
            if found := self._shared(widths, columns, prose, width):
                return found
        return None

    def _shared(
        self, widths: dict[int, int], columns: Sequence[int], prose: Sequence[int], width: int
    ) -> dict[int, int] | None:
        room = width - _total({column: widths[column] for column in columns if column not in prose}) - GAP * len(prose)
        for left, column in zip(range(len(prose), 0, -1), sorted(prose, key=widths.__getitem__), strict=True):
            widths[column] = min(widths[column], room // left)
            room -= widths[column]
            longest = max((_word(line) for line in self.lines(column)), default=0)
            if widths[column] < min(_THIN, self.longest(column)) or longest > widths[column]:
                return None
        return widths


def _word(text: str) -> int:
    return max(map(cell_width, words(text)), default=0)


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * max(len(widths) - 1, 0)


def _head(sheet: _Sheet, widths: dict[int, int], own_line: bool, width: int) -> list[str]:
    indent = " " * _INDENT if own_line else ""
    lines = [sheet.header[0]] if own_line else []
    cells = {column: wrapped(sheet.header[column], wide) for column, wide in widths.items()}
    height = max(map(len, cells.values()), default=0)
    # Heads stand on the rule: a short one beside a long one begins lower.
    tops = {column: [""] * (height - len(found)) + found for column, found in cells.items()}
    lines += [indent + _joined(sheet, widths, tops, line, str) for line in range(height)]
    ruled = max([_total(widths) + len(indent), *map(cell_width, lines)])
    return [*lines, "─" * min(ruled, width)]


def _body(
    sheet: _Sheet, widths: dict[int, int], under: Sequence[int], own_line: bool, width: int, paint: Paint
) -> Iterator[str]:
    indent = " " * _INDENT if own_line else ""
    for row in sheet.rows:
        if own_line:
            yield from wrapped(row[0], width)
        cells = {column: _cell(sheet, row[column], column, wide) for column, wide in widths.items()}
        for height in range(max(map(len, cells.values()), default=0)):
            yield indent + _joined(sheet, widths, cells, height, paint)
        for column in under:
            label = f"{sheet.header[column]}: " if len(under) > 1 else ""
            for part in filter(None, row[column].split("\n")):
                for line in wrapped(f"{label}{part}", width - _INDENT, hang=_INDENT):
                    yield " " * _INDENT + line


def _cell(sheet: _Sheet, text: str, column: int, wide: int) -> list[str]:
    if column in sheet.numbers or column == 0:
        return text.split("\n")
    return [line for part in text.split("\n") for line in wrapped(part, wide)]


def _joined(sheet: _Sheet, widths: dict[int, int], cells: dict[int, list[str]], line: int, paint: Paint) -> str:
    parts = []
    for column, wide in widths.items():
        text = cells[column][line] if line < len(cells[column]) else ""
        space = " " * (wide - cell_width(text))
        painted = paint(text) if text else ""
        parts.append(space + painted if column in sheet.numbers else painted + space)
    return (" " * GAP).join(parts).rstrip()
