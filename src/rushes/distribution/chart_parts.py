"""What this instrument's charts share: colours, and an axis of numbers that says what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rushes.errors import MissingDependency

BLUE, ORANGE, GREY = "#0b6fa4", "#c2571a", "#777777"


def load_altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair


def domain(values: Sequence[float]) -> tuple[float, float]:
    """The range of an axis: 0, every value, and room for the labels at the ends; from 0 where nothing is below it.

    >>> domain([0.7108]), domain([-1.0, 3.0]), domain([0.0])
    ((0, 0.781...), (-1.4, 3.4), (0, 1.0))
    """
    low, high = min(0, *values), max(0, *values)
    room = 0.1 * (high - low)
    if not room:
        return 0, 1.0
    return (low - room if low < 0 else 0), (high + room if high > 0 else 0)


def number_axis(
    values: Sequence[float], title: str, *, field: str = "value:Q", vertical: bool = False, ticks: int = 6
) -> Any:
    """An axis whose ticks are plain numbers, as many digits as tell them apart."""
    altair = load_altair()
    axis = altair.Axis(format=",.6~r", tickCount=ticks)
    scale = altair.Scale(domain=list(domain(values)), nice=False, zero=False)
    kind = altair.Y if vertical else altair.X
    return kind(field, title=title, scale=scale, axis=axis)


def heading(metric: str) -> str:
    """A metric's name at the head of a figure.

    >>> heading("fvd"), heading("fvd on r3d50"), heading("recall")
    ('FVD', 'FVD on r3d50', 'Recall')
    """
    name, _, rest = metric.partition(" ")
    words = name.upper() if "vd" in name or "id" in name else name.capitalize()
    return f"{words} {rest}".rstrip()


def row_height(points: Sequence[object]) -> int:
    """Room for each line's point and the label above it."""
    return max(60, 38 * len(points))


def row_axis(labels: Sequence[str]) -> Any:
    """Lines in the given order. The room is counted in letters: a viewer's font may be wider than the one measured."""
    altair = load_altair()
    room = min(260, 6 * max(map(len, labels)) + 10)
    return altair.Y("row:N", sort=list(labels), title=None, axis=altair.Axis(labelLimit=260, minExtent=room))


def point_chart(points: Sequence[dict[str, Any]], title: str, *, most: float = 0.0) -> Any:
    """Points on lines of their own, each labelled with its value; intervals and extrapolated values where there are."""
    altair = load_altair()
    drawn = [point[key] for point in points for key in ("value", "low", "high", "extrapolated") if key in point]
    x = number_axis([*drawn, most], title)
    base = altair.Chart(altair.Data(values=list(points)), width=460, height=row_height(points))
    y = row_axis([point["row"] for point in points])
    layers = [
        base.mark_point(filled=True, size=90, color=BLUE).encode(x=x, y=y),
        base.mark_text(align="center", dy=-12, fontSize=11).encode(x=x, y=y, text="label:N"),
    ]
    if any("low" in point for point in points):
        layers.insert(0, base.mark_rule(color=BLUE, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y))
    if any("extrapolated" in point for point in points):
        layers.append(base.mark_point(shape="diamond", size=90, color=ORANGE).encode(x="extrapolated:Q", y=y))
    return altair.layer(*layers)
