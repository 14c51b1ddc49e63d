"""The systems on each question that people answered: a dot with its interval per system, and who is surely ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from rushes.compare.board.model import BoardData
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.board.page.people_words import Standing, standings
from rushes.core.errors import MissingDependency
from rushes.core.grouping import grouped
from rushes.present.charts.dot_chart import dot, dot_chart
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import NARROW, WIDE, drawn
from rushes.present.verdict.verdict import listed

_UNITS = {"points": "mean rating", "ratio": "share of votes won"}
_ROOMS = {WIDE: replace(WIDE, width=240), NARROW: replace(NARROW, width=165, letters=16)}
"""Three charts side by side on a wide page, with the values at the ends of their rows."""
_MOST = 6
"""Questions that are drawn; the table has all."""


def forests(data: BoardData, columns: Sequence[BoardColumn], *, level: float) -> tuple[Figure, ...]:
    """A figure per question; () where nobody answered, or charts cannot be drawn here: the words are there anyway."""
    try:
        return tuple(_figure(data, one) for one in standings(data, columns, level=level)[:_MOST])
    except MissingDependency:
        return ()


def _figure(data: BoardData, one: Standing) -> Figure:
    definition, letters = one.column.reading.definition, one.column.verdict.letters if one.column.verdict else {}
    dots = [
        dot(m, name, text=f"{value} {letters.get(name, '')}".rstrip())
        for name, value in one.order
        if (m := data.whole.get((name, one.column.reading.key))) is not None
    ]
    low, high = definition.lowest, definition.highest
    frame = None if low is None or high is None else (float(low), float(high))
    scale = definition.param("scale")
    title = _UNITS.get(definition.unit, one.label) + (f", {scale.replace('-', ' to ')}" if scale and frame else "")
    chart = partial(dot_chart, dots, title, frame=frame, zero=False, at_end=True)
    return drawn(one.label, " ".join(_caption(one)), lambda room: chart(_ROOMS[room]))


def _caption(one: Standing) -> Iterator[str]:
    """Pairs only where they differ, then what is missing to name a winner."""
    ahead = grouped(one.column.verdict.ranked) if one.column.verdict else {}
    everyone = {name for name, _ in one.order}
    parts = []
    for name, _ in one.order:
        if behind := [other for other, _ in one.order if other in ahead.get(name, ())]:
            all_others = len(behind) == len(everyone) - 1 > 1
            parts.append(f"{name} is surely ahead of {'every other' if all_others else listed(behind)}")
    yield "; ".join(parts) + "." if parts else "No two systems can be told apart."
    if not one.winner:
        yield f"{one.pool[0]} leads{' the others' if one.pool[0] != one.order[0][0] else ''}; {one.missing}."
