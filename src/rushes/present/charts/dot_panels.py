"""Small charts side by side that share their rows: a dot and its interval per row, one panel per question or metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushes.present.charts import style
from rushes.present.charts.paper import Look, canvas, fitted_svg
from rushes.present.tables.fitting import Width, head_lines

_LETTER = 5.9
"""Pixels of a letter, in the mean."""
_ROW = 22
_GAP = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelDot:
    """A value on its row."""

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    filled: bool = True
    text: str = ""
    """At the right end of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart."""

    title: str
    dots: Sequence[PanelDot]
    axis: str = ""
    frame: tuple[float, float] | None = None
    """Ends of the axis; by default round numbers around the values."""
    rule: float | None = None
    """Where a dashed line stands."""


def panels_svg(panels: Sequence[Panel], rows: Sequence[str], looks: Mapping[str, Look], width: Width) -> str:
    """All panels as one SVG, in as many lines as the width needs; row names stand at the left of each line."""
    labels = _LETTER * max(map(len, rows), default=0) + 16
    least = 58 if width == "one" else 92
    across = max(1, min(len(panels), int((canvas(width) - labels + _GAP) // (least + _GAP))))
    lines = [panels[start : start + across] for start in range(0, len(panels), across)]

    def draw(inner: float) -> Any:
        altair = style.load_altair()
        each = max((inner - _GAP * (across - 1)) / across, 30)
        drawn = [
            altair.hconcat(*(_drawn(one, rows, looks, each, named=n == 0) for n, one in enumerate(line)), spacing=_GAP)
            for line in lines
        ]
        return drawn[0] if len(drawn) == 1 else altair.vconcat(*drawn, spacing=16)

    return fitted_svg(draw, width, first=canvas(width) - labels)


def _drawn(panel: Panel, rows: Sequence[str], looks: Mapping[str, Look], width: float, *, named: bool) -> Any:
    altair = style.load_altair()
    values = [_record(one) for one in panel.dots]
    ends = [one[key] for one in values for key in ("value", "low", "high") if one.get(key) is not None]
    ends += [] if panel.rule is None else [panel.rule]
    few = max(2, min(5, int(width // 34)))
    x = (
        style.number_axis(ends, panel.axis or None, zero=False, most=few)
        if panel.frame is None
        else _framed(panel, width)
    )
    x["axis"]["labelOverlap"] = "greedy"  # Elo takes more room than a rating
    axis = altair.Axis(title=None, labels=named, ticks=False, domain=False, grid=False, labelLimit=0, labelPadding=6)
    y = altair.Y("row:N", sort=list(rows), scale=altair.Scale(domain=list(rows), paddingOuter=0.3), axis=axis)
    present = [name for name in rows if name in looks]
    colour = altair.Color(
        "row:N", legend=None, scale=altair.Scale(domain=present, range=[looks[name].colour for name in present])
    )
    shape = altair.Shape(
        "row:N", legend=None, scale=altair.Scale(domain=present, range=[_shape(looks[name]) for name in present])
    )
    base = altair.Chart(altair.Data(values=values), width=width, height=_ROW * len(rows))
    layers = [base.mark_point(opacity=0).encode(x=x, y=y)]
    if panel.rule is not None:
        line = altair.Chart(altair.Data(values=[{"value": panel.rule}])).mark_rule(strokeDash=[3, 3], color=style.GREY)
        layers.append(line.encode(x=x))
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.6, clip=True)
    layers.append(bars.encode(x=altair.X("low:Q", scale=x["scale"], axis=x["axis"]), x2="high:Q", y=y, color=colour))
    full = base.transform_filter("datum.filled").mark_point(filled=True, size=52, opacity=1)
    layers.append(full.encode(x=x, y=y, color=colour, shape=shape))
    hollow = base.transform_filter("!datum.filled").mark_point(filled=True, size=44, opacity=1, strokeWidth=1.6)
    layers.append(hollow.encode(x=x, y=y, stroke=colour, shape=shape, fill=altair.value("#ffffff")))
    if any(one.text for one in panel.dots):
        words = base.mark_text(align="left", fontSize=style.FONT_SIZE - 1).encode(x=altair.value(width + 4), y=y)
        layers.append(words.encode(text="text:N"))
    title = altair.TitleParams(
        head_lines(panel.title, 2) if len(panel.title) * _LETTER > width else panel.title, anchor="middle", offset=4
    )
    return altair.layer(*layers).properties(title=title)


def _framed(panel: Panel, width: float) -> Any:
    """An axis from end to end of a scale: both ends have their tick."""
    altair = style.load_altair()
    assert panel.frame is not None
    low, high = panel.frame
    whole = high - low if float(high - low).is_integer() and high - low > 1 else 4.0
    steps = next((n for n in (whole, whole / 2) if n.is_integer() and width / n >= 18), 2.0)
    at = [low + (high - low) * n / steps for n in range(int(steps) + 1)]
    axis = altair.Axis(values=at, format=".2~f", title=panel.axis or None, labelOverlap=False, labelFlush=False)
    return altair.X("value:Q", scale=altair.Scale(domain=[low, high], nice=False, zero=False), axis=axis)


def _shape(look: Look) -> str:
    return "circle" if look.shape == "stroke" else look.shape


def _record(one: PanelDot) -> dict[str, Any]:
    found = {"row": one.row, "value": one.value, "filled": one.filled, "text": one.text}
    return found | ({} if one.low is None or one.high is None else {"low": one.low, "high": one.high})
