"""How every chart looks: one set of colours in light and dark, axes that say what they show, labels with room.

A chart is drawn twice: for a page and for a phone, on which a picture that is made smaller could not be read. Colours
are those of the light page; `themed` puts a style into the SVG that turns each into its dark one, where the reader's
system is dark.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rushes.core.registry import optional_package
from rushes.present.charts.figure import Figure, chart_svg

INK, MUTED, LINE, GREY, CARD = "#1d2126", "#56606b", "#dde1e6", "#7d8894", "#ffffff"
BLUE, ORANGE, PURPLE, GREEN = "#0b6fa4", "#c2571a", "#6b4c9a", "#4d7c0f"
BAD, GOOD = "#a3341b", "#0b6f3a"
KINDS = (BLUE, ORANGE, MUTED, PURPLE, GREEN)
"""Told apart by every common kind of colour blindness; a shape or a dash goes with each."""
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])
DARK = {
    INK: "#e7eaee",
    MUTED: "#a3adb8",
    LINE: "#323943",
    GREY: "#8b96a2",
    CARD: "#1b1f25",
    BLUE: "#6cb8e6",
    ORANGE: "#f0a06a",
    PURPLE: "#b9a2e0",
    GREEN: "#a5cf62",
    BAD: "#ff9d96",
    GOOD: "#83d6a5",
}
"""What each colour of the light page is on the dark one."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif"
FONT_SIZE = 12
_LETTER = 7.4
"""Pixels of a letter of that size in the widest of these fonts: a viewer's may be wider than the one measured here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The room a chart has."""

    width: int
    """Of one plot, in pixels."""
    panel: int
    """Of one of several plots."""
    columns: int
    """Plots side by side, at most."""
    letters: int
    """Of a row's label, before it is wrapped."""
    ticks: int


WIDE = Room(width=440, panel=220, columns=3, letters=30, ticks=6)
NARROW = Room(width=185, panel=235, columns=1, letters=13, ticks=4)
"""A phone of 390 pixels leaves some 320 for a picture."""


def drawn(title: str, caption: str, draw: Callable[[Room], Any]) -> Figure:
    """A figure in both sizes. Raises `MissingDependency` where the report extra is not installed."""
    wide, narrow = (themed(chart_svg(styled(draw(room)))) for room in (WIDE, NARROW))
    return Figure(title, caption, wide, narrow)


def load_altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    return optional_package("altair", "charts need altair", extra="report")


def styled(chart: Any) -> Any:
    """A chart with the shared fonts, colours and spacing."""
    text = {"labelColor": INK, "titleColor": MUTED, "labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE}
    return (
        chart.configure(background="transparent", font=FONT, padding=6)
        .configure_view(stroke=None)
        .configure_axis(
            **text, titleFontWeight="normal", gridColor=LINE, domainColor=GREY, tickColor=GREY, labelPadding=5
        )
        .configure_legend(**text, symbolSize=80, rowPadding=5, labelLimit=0, columnPadding=24, orient="top", offset=10)
        .configure_title(color=INK, fontSize=FONT_SIZE + 1, fontWeight=600, anchor="start", offset=8)
        .configure_text(fontSize=FONT_SIZE, fill=INK)
    )


def themed(svg: str) -> str:
    """The SVG with a style that turns its colours where the reader's system is dark.

    >>> themed('<svg width="9"><path fill="#dde1e6"/></svg>').count("prefers-color-scheme:dark")
    1
    """
    rules = "".join(f'[{kind}="{a}"]{{{kind}:{b}}}' for a, b in DARK.items() for kind in ("fill", "stroke"))
    head, mark, rest = svg.partition(">")
    return f"{head}{mark}<style>@media (prefers-color-scheme:dark){{{rules}}}</style>{rest}"


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`, at most `most` steps apart by 1, 2 or 5.

    >>> ticks(0, 0.7108), ticks(470, 1430, most=4)
    ([0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 500.0, 1000.0, 1500.0])
    """
    if not high > low:
        low, high = (0.0, 1.0) if low == 0 else (low - abs(low) / 2, low + abs(low) / 2)
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (power * many for many in (1, 2, 5, 10, 20)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= most:
            break
    decimals = _decimals(step)
    return [round(number * step, decimals) + 0.0 for number in range(first, last + 1)]


def _decimals(step: float) -> int:
    """Decimals that tell ticks apart that are this far from each other."""
    return max(-math.floor(math.log10(step) + 1e-9), 0)


def number_axis(
    values: Iterable[float],
    title: str | None,
    *,
    field: str = "value:Q",
    vertical: bool = False,
    zero: bool = True,
    most: int = WIDE.ticks,
    framed: bool = False,
    bare: bool = False,
) -> Any:
    """An axis of numbers: ticks are round, each with as many digits as it takes, and the axis ends at one.

    Every value lies on it. With `zero` it holds 0, and starts there where nothing is below: the length of a line is
    then its value. A scale without a zero of its own, as Elo, goes without. A `framed` axis ends at the extreme values
    in place of at ticks; a `bare` one shows nothing but its grid.
    """
    altair = load_altair()
    found = [float(value) for value in values] or [0.0]
    ends = ([0.0] if zero else []) + found
    at = ticks(min(ends), max(ends), most=most)
    decimals = _decimals(at[1] - at[0])
    domain = [min(ends), max(ends)] if framed else [at[0], at[-1]]
    shown = {"labels": False, "ticks": False, "domain": False} if bare else {"labelOverlap": False, "labelFlush": False}
    inside = [tick for tick in at if domain[0] <= tick <= domain[1]]
    axis = altair.Axis(values=inside, format=f",.{decimals}f", title=title, **shown)
    scale = altair.Scale(domain=domain, nice=False, zero=False)
    return (altair.Y if vertical else altair.X)(field, scale=scale, axis=axis)


def row_axis(names: Sequence[str], room: Room, *, aligned: Sequence[str] = ()) -> Any:
    """Rows in the given order, their names wrapped to the room they have.

    `aligned` are the rows of all charts that stand below each other: their plots begin at one place.
    """
    altair = load_altair()
    labels = {name: wrapped(name, room.letters) for name in names}
    longest = max((len(line) for name in aligned or names for line in wrapped(name, room.letters)), default=0)
    extent = math.ceil(_LETTER * longest) + 10
    axis = altair.Axis(
        title=None,
        labelExpr=f"({json.dumps(labels)})[datum.value]",
        labelLimit=0,
        labelOverlap=False,
        minExtent=extent,
        labelLineHeight=14,
        grid=False,
        ticks=False,
        domain=False,
    )
    return altair.Y("row:N", sort=list(names), axis=axis)


def wrapped(name: str, letters: int, *, lines: int = 2) -> list[str]:
    """A name in lines of so many letters, broken after a space, "_", "-", "/" or "."; what does not fit ends in "…".

    >>> wrapped("amber", 13), wrapped("freeze_frame_ratio", 15), wrapped("a model with a very long name indeed", 13)
    (['amber'], ['freeze_frame_', 'ratio'], ['a model with', 'a very long …'])
    """
    whole = [""]
    for part in re.findall(r"[^\s_\-/.]*[\s_\-/.]|[^\s_\-/.]+", name):
        if len((whole[-1] + part).rstrip()) > letters and whole[-1]:
            whole.append("")
        whole[-1] += part
        while len(whole[-1].rstrip()) > letters:
            whole[-1:] = [whole[-1][:letters], whole[-1][letters:]]
    whole = [line.strip() for line in whole]
    if len(whole) <= lines:
        return whole
    return [*whole[: lines - 1], f"{whole[lines - 1][: letters - 2].rstrip()} …"]


def row_height(names: Sequence[str], room: Room, *, least: int = 34) -> int:
    """Pixels for these rows, all of one height: more where a name takes two lines."""
    lines = max((len(wrapped(name, room.letters)) for name in names), default=1)
    return max(least, 16 * lines + 6) * len(names)


def side_by_side(panels: Sequence[Any], room: Room) -> Any:
    """Plots beside each other while there is room, then below."""
    altair = load_altair()
    return panels[0] if len(panels) == 1 else altair.concat(*panels, columns=min(room.columns, len(panels)))


def kind_legend(altair: Any) -> Any:
    """A legend whose entries stand below each other: side by side, a wider font than the one measured overlaps them."""
    return altair.Legend(title=None, orient="top", direction="vertical", labelLimit=0)
