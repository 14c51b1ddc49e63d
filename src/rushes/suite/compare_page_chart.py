"""The forest plot: every mean difference with its interval, on one scale, in units of the metric's own spread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushes.report.chart_style import FONT, load_altair, wrapped
from rushes.report.figure import Figure, chart_svg
from rushes.suite.compare_data import QUIET
from rushes.suite.compare_many import Judged, RunsComparison
from rushes.suite.compare_page_rows import GROUPS, told_first

_INK = {
    "light": {"ink": "#1d2126", "muted": "#56606b", "line": "#dde1e6", "zero": "#7d8894"},
    "dark": {"ink": "#e7eaee", "muted": "#a3adb8", "line": "#323943", "zero": "#7d8894"},
}
_TONES = {
    "light": {"better": "#1c6b3c", "worse": "#a8201a", "moved": "#0b6394", "unclear": "#7d8894"},
    "dark": {"better": "#83d6a5", "worse": "#ff9d96", "moved": "#6cb8e6", "unclear": "#8b96a2"},
}
# Told apart without colours too.
_SHAPES = {"better": "triangle-up", "worse": "triangle-down", "moved": "diamond", "unclear": "circle"}
_FRAME = 2.15
"""A mean difference is never more than two of these spreads; intervals that reach further are cut here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """The room of the chart, in pixels, and letters of a label."""

    width: int
    letters: int
    words: tuple[str, ...]
    """Below the axis."""


_WIDE = _Size(width=470, letters=40, words=("lower than A    ←    standard deviations    →    higher than A",))
_NARROW = _Size(width=118, letters=15, words=("standard deviations:", "← lower than A,", "higher than A →"))
TITLE = "Mean differences on one scale"
CAPTION = (
    "Each point is a mean paired difference from A with its 95 % interval, divided by the standard deviation of the "
    "metric over all clips of both runs, so that metrics of any unit share one axis. An interval that leaves 0 out may "
    "still be unclear: with many comparisons at once, Holm's rule asks for more. Intervals are cut at the frame."
)


def forest(found: RunsComparison) -> tuple[Figure, Figure] | None:
    """The chart in light and in dark; None where nothing changed. Raises `MissingDependency` without the extra."""
    rows = [one for lines in told_first(found) for one in lines if one.verdict not in QUIET]
    rows = [one for one in rows if one.spread.value is not None]
    if not rows:
        return None
    light, dark = (
        Figure(TITLE, CAPTION, *(chart_svg(_chart(rows, found, theme, size)) for size in (_WIDE, _NARROW)))
        for theme in ("light", "dark")
    )
    return light, dark


def _chart(rows: Sequence[Judged], found: RunsComparison, theme: str, size: _Size) -> Any:
    altair = load_altair()
    ink = _INK[theme]
    groups = [(head, [one for one in rows if _judges(one) == (head == GROUPS[0][0])]) for head, _ in GROUPS]
    drawn = [(head, part) for head, part in groups if part]
    parts = [
        _group(altair, head, part, found, theme, size, extent=_extent(rows, found, size), axis=number == len(drawn))
        for number, (head, part) in enumerate(drawn, 1)
    ]
    return (
        altair.vconcat(*parts, spacing=22)
        .resolve_scale(x="shared")
        .configure(background="transparent", font=FONT, padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=ink["ink"],
            titleColor=ink["muted"],
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            domain=False,
            ticks=False,
            gridColor=ink["line"],
        )
        .configure_title(color=ink["ink"], fontSize=13, anchor="start", frame="bounds", offset=8)
    )


def _judges(one: Judged) -> bool:
    """Whether a change of the metric can be a verdict."""
    return one.metric.statistics.metric.judges


def _extent(rows: Sequence[Judged], found: RunsComparison, size: _Size) -> int:
    """Room for the longest line of a label, so that the groups lie below each other: 7 px a letter of this size."""
    lines = [line for one in rows for line in wrapped(_label(one, found), size.letters)]
    return 7 * max(map(len, lines)) + 10


def _label(one: Judged, found: RunsComparison) -> str:
    return f"{one.name}   {one.letter}" if len(found.runs) > 2 else one.name


def _group(
    altair: Any,
    head: str,
    rows: Sequence[Judged],
    found: RunsComparison,
    theme: str,
    size: _Size,
    *,
    extent: int,
    axis: bool,
) -> Any:
    """One group of rows; `axis` says whether it is the last, which has the scale below it."""
    ink, tones = _INK[theme], _TONES[theme]
    values = [_datum(one, found, place) for place, one in enumerate(rows)]
    names = [value["row"] for value in values]
    labels = {value["row"]: wrapped(str(value["label"]), size.letters) for value in values}
    row = 21 if max(map(len, labels.values())) == 1 else 34
    words = list(tones)
    base = altair.Chart(altair.Data(values=values))
    told = altair.Axis(
        title=None,
        labelExpr=f"({_object(labels)})[datum.value]",
        labelLimit=0,
        labelOverlap=False,
        labelLineHeight=13,
        labelPadding=10,
        grid=False,
        minExtent=extent,
        maxExtent=extent,
    )
    y = altair.Y("row:N", sort=names, axis=told)
    scale = altair.Scale(domain=[-_FRAME, _FRAME], nice=False)
    words_below = list(size.words) if axis else None
    below = altair.Axis(title=words_below, labels=axis, values=[-2, -1, 0, 1, 2], format="d")
    colour = altair.Color("verdict:N", scale=altair.Scale(domain=words, range=[tones[w] for w in words]), legend=None)
    shape = altair.Shape("verdict:N", scale=altair.Scale(domain=words, range=[_SHAPES[w] for w in words]), legend=None)
    zero = altair.Chart(altair.Data(values=[{"x": 0}])).mark_rule(color=ink["zero"]).encode(x="x:Q")
    line = base.mark_rule(strokeWidth=2, clip=True).encode(
        x=altair.X("low:Q", scale=scale, axis=below), x2="high:Q", y=y, color=colour
    )
    point = base.mark_point(filled=True, size=75, opacity=1).encode(
        x=altair.X("value:Q", scale=scale), y=y, color=colour, shape=shape
    )
    word = base.mark_text(align="left", fontSize=12).encode(
        x=altair.value(size.width + 8), y=y, text="text:N", color=colour
    )
    layers = altair.layer(zero, line, point, word)
    return layers.properties(width=size.width, height=row * len(rows), title=head)


def _datum(one: Judged, found: RunsComparison, place: int) -> dict[str, object]:
    interval, value = one.spread.interval, float(one.spread.value or 0.0)
    low, high = (value, value) if interval is None else (interval.low, interval.high)
    return {
        "row": f"{place:04d}",
        "label": _label(one, found),
        "value": round(value, 8),
        "low": round(max(low, -_FRAME), 8),
        "high": round(min(high, _FRAME), 8),
        "verdict": one.verdict,
        "text": one.text,
    }


def _object(labels: dict[Any, Any]) -> str:
    """A mapping as Vega's expressions write it."""
    return json.dumps(labels)
