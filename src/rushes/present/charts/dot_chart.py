"""Values as dots on lines of their own, with their intervals: the one chart of estimates that every page has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rushes.core import Measurement
from rushes.present.charts import style

Looks = Mapping[str, tuple[str, str]]
"""Colour and shape of each kind of dot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One value, on the line of its row."""

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: str = ""
    text: str = ""
    """Stands above the dot, or at the end of its row."""
    limit: float | None = None
    """A second value, shown as a diamond."""


def dot(m: Measurement, row: str, *, kind: str = "", text: str = "", limit: Measurement | None = None) -> Dot:
    """A measurement with its interval; where it has no value it stands at 0, so leave such ones out."""
    low, high = (None, None) if m.interval is None else (m.interval.low, m.interval.high)
    beyond = None if limit is None or limit.value is None else float(limit.value)
    return Dot(row=row, value=float(m.value or 0.0), low=low, high=high, kind=kind, text=text, limit=beyond)


def looks_of(kinds: Sequence[str]) -> Looks:
    """A colour and a shape for each, told apart by every common kind of colour blindness."""
    return dict(zip(kinds, zip(style.KINDS, style.SHAPES, strict=True), strict=False))


def dot_chart(
    dots: Sequence[Dot],
    title: Any,
    room: style.Room,
    *,
    looks: Looks | None = None,
    zero: bool = True,
    most: float | None = None,
    rule: float | None = None,
    frame: tuple[float, float] | None = None,
    aligned: Sequence[str] = (),
    at_end: bool = False,
) -> Any:
    """One line per row, in the order of the dots; kinds that share a row stand below each other, with a legend.

    `most` is a value that the axis must reach, `rule` one that a dashed line marks. With a `frame` the axis has these
    ends and intervals are cut there; without a `title` it shows nothing but its grid. `aligned` are the rows of all
    charts that stand below each other. `at_end` puts the texts at the ends of the rows, in the colours of their dots,
    in place of above the dots.
    """
    altair = style.load_altair()
    looks = looks or {"": (style.BLUE, style.SHAPES[0])}
    names = list(dict.fromkeys(one.row for one in dots))
    shared = len(dots) > len(names)
    texts = any(one.text for one in dots)
    least = 16 * len(looks) + 14 if shared else 22 if at_end else 40 if texts else 30
    values = [{key: value for key, value in asdict(one).items() if value is not None} for one in dots]
    size = {"width": room.width, "height": style.row_height(names, room, least=least)}
    base = altair.Chart(altair.Data(values=values), **size)
    spread = [one[key] for one in values for key in ("value", "low", "high", "limit") if key in one]
    ends = frame or [*spread, *([] if most is None else [most])]
    x = style.number_axis(ends, title, zero=zero, most=room.ticks, framed=frame is not None, bare=title is None)
    legend = style.kind_legend(altair) if shared else None
    scales = [altair.Scale(domain=list(looks), range=list(found)) for found in zip(*looks.values(), strict=True)]
    where = {"y": style.row_axis(names, room, aligned=aligned)}
    where |= {"yOffset": altair.YOffset("kind:N", sort=list(looks))} if shared else {}
    colour = altair.Color("kind:N", scale=scales[0], legend=legend)
    shape = altair.Shape("kind:N", scale=scales[1], legend=legend)
    bars = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, clip=True)
    layers = [
        bars.encode(x=altair.X("low:Q"), x2="high:Q", color=colour, **where),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=x, color=colour, shape=shape, **where),
    ]
    if rule is not None:
        line = altair.Chart(altair.Data(values=[{"value": rule}])).mark_rule(strokeDash=[4, 4], color=style.GREY)
        layers.insert(0, line.encode(x=x))
    if texts and at_end:
        words = base.mark_text(align="left").encode(x=altair.value(room.width + 8), color=colour)
        layers.append(words.encode(text="text:N", **where))
    elif texts:
        layers.append(base.mark_text(align="center", dy=-13).encode(x=x, text="text:N", **where))
    if any(one.limit is not None for one in dots):
        beyond = base.mark_point(shape="diamond", size=90, color=style.ORANGE)
        layers.append(beyond.transform_filter("isValid(datum.limit)").encode(x="limit:Q", **where))
    return altair.layer(*layers)
