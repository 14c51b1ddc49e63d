"""The board's table, column by column: what a cell says of one system on one reading, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rushes.compare.board.model import PEOPLE, BoardData, Reading, ReadingKey, ReadingVerdict
from rushes.compare.comparison import WhyNot
from rushes.core import Definition, Measurement
from rushes.core.table import ARROWS
from rushes.present.pages.section import interval_text
from rushes.present.verdict.verdict import listed
from rushes.stats.intervals import Floats

_FINEST = 6
"""Most decimals of a cell; the whole number is in the runs."""
_NO_VALUE = "no value"


GROUPS = {
    "people": "People",
    "credentialed": "Metrics that agree with people: may say better",
    "judged": "Metrics that rank by definition",
    "moved": "Other metrics: differences, no rank",
    "untested": "Shown, not tested",
}
"""Columns that stand together, in order, with what stands above them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCell:
    """One system on one reading."""

    text: str
    """The value with the digits its interval warrants; "–" where there is none."""
    signature: str = ""
    interval: str = ""
    title: str = ""
    """Everything behind it: level, method and count, or why there is no value."""
    letters: str = ""
    rank: str = ""
    """ "1", or "1–3"; "" where the reading gives none."""
    compared: bool = True
    """Whether it has a letter, where others of its reading have."""
    best: bool = False
    """Every other system that has a value is significantly behind it."""
    bar: tuple[float, float, float] | None = None
    """Low end, value and high end on the column's own scale, 0 to 100; None where there is no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    """One reading, over all systems."""

    number: int
    """Its place among the board's readings."""
    reading: Reading
    verdict: ReadingVerdict | None
    judged: bool
    """Whether it can say better and worse; else its systems differ at most."""
    why: str
    """Why it gives no verdict; "" where it does."""
    digits: int
    cells: tuple[BoardCell, ...]
    """By system, in the board's order."""
    signatures: tuple[str, ...]
    """Of the cells: one, since what differs is refused before."""

    @property
    def of_people(self) -> bool:
        """Whether it is what people said."""
        return self.reading.instrument == PEOPLE

    @property
    def group(self) -> str:
        """Which of `GROUPS` it is shown in."""
        if self.of_people:
            return "people"
        if self.verdict is not None and self.verdict.say:
            return "credentialed"
        if self.verdict is not None and self.verdict.why is WhyNot.NOT_TESTED:
            return "untested"
        return "judged" if self.judged else "moved"

    @property
    def head(self) -> str:
        return f"{self.reading.label} {ARROWS[self.reading.definition.better]}".strip()


def board_columns(data: BoardData, verdicts: Mapping[ReadingKey, ReadingVerdict]) -> tuple[BoardColumn, ...]:
    """Every metric as a column: people first, then by how much it may say, in the board's order."""
    columns = [_column(n, reading, data, verdicts.get(reading.key)) for n, reading in enumerate(data.readings)]
    order = {name: place for place, name in enumerate(GROUPS)}
    return tuple(sorted(columns, key=lambda column: order[column.group]))


def why_only_moves(definition: Definition) -> str:
    """Why a difference says nothing about quality, in words.

    >>> from rushes.core import Definition
    >>> d = dict(name="x", unit="1", lowest=0, highest=None, summary="s", formula="f")
    >>> why_only_moves(Definition(better="neither", **d))
    'neither direction is better'
    >>> why_only_moves(Definition(better="higher", raised_by=("noise", "ringing"), **d))
    'noise and ringing raise it as well'
    """
    if definition.better == "neither":
        return "neither direction is better"
    sides = ((definition.raised_by, "raise"), (definition.lowered_by, "lower"))
    parts = [f"{listed(words)} {verb}{'s' if len(words) == 1 else ''} it as well" for words, verb in sides if words]
    return "; ".join(parts)


def _column(number: int, reading: Reading, data: BoardData, verdict: ReadingVerdict | None) -> BoardColumn:
    found = [data.whole.get((name, reading.key)) for name in data.names]
    ranked = verdict is not None and bool(verdict.ranks)
    tested = verdict is None or verdict.why is not WhyNot.NOT_TESTED
    judged = tested and (ranked or reading.definition.ranks_systems)
    why = "" if ranked else (verdict.why_not if verdict else "") or why_only_moves(reading.definition)
    digits = cell_digits([m for m in found if m is not None])
    ends = _ends([m for m in found if m is not None])
    pairs, rivals = zip(data.names, found, strict=True), sum(m is not None and m.value is not None for m in found)
    return BoardColumn(
        number=number,
        reading=reading,
        verdict=verdict,
        judged=judged,
        why=why,
        digits=digits,
        cells=tuple(_cell(name, m, verdict, digits, ends, rivals=rivals) for name, m in pairs),
        signatures=tuple(dict.fromkeys(m.signature for m in found if m is not None)),
    )


def _cell(
    name: str,
    m: Measurement | None,
    verdict: ReadingVerdict | None,
    digits: int,
    ends: tuple[float, float],
    *,
    rivals: int,
) -> BoardCell:
    if m is None or m.value is None:
        return BoardCell(text="–", title=(m.note if m else "") or _NO_VALUE)
    letters = verdict.letters.get(name, "") if verdict else ""
    rank = verdict.ranks.get(name) if verdict else None
    about = [f"{m.count} counted", m.note] if m.interval is None else [interval_text(m), f"{m.count} counted", m.note]
    return BoardCell(
        text=fixed(float(m.value), digits),
        signature=m.signature,
        interval="" if m.interval is None else f"{fixed(m.interval.low, digits)} to {fixed(m.interval.high, digits)}",
        title="; ".join(filter(None, about)),
        letters=letters,
        compared=bool(letters) or verdict is None or not verdict.contrasts,
        rank="" if rank is None else str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}",
        best=rank == (1, 1) and verdict is not None and len(verdict.ranks) >= rivals > 1,
        bar=_bar(m, ends),
    )


def cell_digits(found: Sequence[Measurement]) -> int:
    """Decimals of a column: the narrowest interval's half width with two digits; without one, the values' spread.

    A half width of 0.43 gives 2 (12.34, 11.91 to 12.77); one of 31 gives 0. Whole numbers alone give 0.
    """
    known = [m for m in found if m.value is not None]
    if not known:
        return 0
    widths = [(m.interval.high - m.interval.low) / 2 for m in known if m.interval is not None]
    narrowest = min((width for width in widths if width > 0), default=0.0)
    if not narrowest:
        values = [float(m.value) for m in known if m.value is not None]
        if all(value.is_integer() for value in values):
            return 0
        narrowest = ((max(values) - min(values)) or abs(values[0])) / 20
    return _two_digits(narrowest)


def value_digits(values: Sequence[float] | Floats) -> int:
    """Decimals for single values: a twentieth of their spread with two digits; whole numbers have none.

    >>> value_digits([0.0, 1.0]), value_digits([10.12, 11.4, 12.9]), value_digits([])
    (0, 2, 0)
    """
    array = np.asarray(values, dtype=np.float64)
    if (array == np.rint(array)).all():
        return 0
    spread = float(array.max() - array.min())
    return _two_digits(spread / 20) if spread else 3


def _two_digits(width: float) -> int:
    """Decimals that show two digits of a width."""
    return min(max(1 - math.floor(math.log10(width)), 0), _FINEST)


def fixed(value: float, digits: int) -> str:
    """A value with so many decimals, without a minus before a zero, and with thousands apart from ten thousand on.

    >>> fixed(-1.25, 1), fixed(-0.04, 1), fixed(12345.6, 0)
    ('−1.2', '0.0', '12,346')
    """
    rounded = round(value, digits) + 0.0
    text = f"{rounded:,.{digits}f}" if abs(rounded) >= 10_000 else f"{rounded:.{digits}f}"
    return text.replace("-", "−")


def _ends(found: Sequence[Measurement]) -> tuple[float, float]:
    every = [end for m in found if m.value is not None for end in _span(m)]
    return (min(every), max(every)) if every else (0.0, 0.0)


def _bar(m: Measurement, ends: tuple[float, float]) -> tuple[float, float, float]:
    width = ends[1] - ends[0]
    low, value, high = (round(4 + 92 * (place - ends[0]) / width, 1) if width else 50.0 for place in _span(m))
    return low, value, high


def _span(m: Measurement) -> tuple[float, float, float]:
    """Low end, value and high end; the value alone where it has no interval."""
    value = float(m.value or 0)
    return (value, value, value) if m.interval is None else (m.interval.low, value, m.interval.high)
