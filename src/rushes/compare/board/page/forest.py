"""The systems on each question that people answered: a dot and interval per system, and who differs significantly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from rushes.compare.board.model import BoardData
from rushes.compare.board.page.columns import BoardColumn
from rushes.compare.board.page.people_words import Standing, standings
from rushes.compare.board.page.say_words import better_words
from rushes.core.errors import MissingDependency
from rushes.present.charts.dot_chart import dot, dot_chart
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import NARROW, WIDE, drawn

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
    if one.too_few:
        yield f"{one.missing}."
        return
    order = [name for name, _ in one.order]
    who = better_words(one.column.verdict, order) if one.column.verdict else ""
    yield f"Significant: {who}." if who else "No significant difference."
    if not one.winner and len(one.level) < 2:
        head = f"{one.pool[0]} leads{' the generated systems' if one.pool[0] != order[0] else ''}"
        yield f"{head}; {one.missing}."
