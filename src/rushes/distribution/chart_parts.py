"""What this instrument's charts share: the head of a figure, and points on lines of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rushes.report.chart_style import BLUE, ORANGE, Room, load_altair, number_axis, row_axis, row_height


def heading(metric: str) -> str:
    """A metric's name at the head of a figure.

    >>> heading("fvd"), heading("fvd on r3d50"), heading("recall")
    ('FVD', 'FVD on r3d50', 'Recall')
    """
    name, _, rest = metric.partition(" ")
    words = name.upper() if "vd" in name or "id" in name else name.capitalize()
    return f"{words} {rest}".rstrip()


def point_chart(points: Sequence[dict[str, Any]], title: str, room: Room, *, most: float = 0.0) -> Any:
    """Points on lines of their own, each labelled with its value; intervals and extrapolated values where there are."""
    altair = load_altair()
    drawn = [point[key] for point in points for key in ("value", "low", "high", "extrapolated") if key in point]
    x = number_axis([*drawn, most], title, most=room.ticks)
    names = [point["row"] for point in points]
    base = altair.Chart(altair.Data(values=list(points)), width=room.width, height=row_height(names, room, least=40))
    y = row_axis(names, room)
    layers = [
        base.mark_point(filled=True, size=90, color=BLUE, opacity=1).encode(x=x, y=y),
        base.mark_text(align="center", dy=-13).encode(x=x, y=y, text="label:N"),
    ]
    if any("low" in point for point in points):
        layers.insert(0, base.mark_rule(color=BLUE, strokeWidth=2).encode(x=altair.X("low:Q"), x2="high:Q", y=y))
    if any("extrapolated" in point for point in points):
        layers.append(base.mark_point(shape="diamond", size=90, color=ORANGE).encode(x="extrapolated:Q", y=y))
    return altair.layer(*layers)
