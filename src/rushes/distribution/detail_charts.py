"""Figures of what surrounds the distances: the difference of two models, the value against N, the classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from rushes.core import Measurement
from rushes.core.numbers import number_text
from rushes.core.selection import keys_of
from rushes.core.text import value_text
from rushes.distribution.chart_parts import heading, point_chart
from rushes.distribution.definitions import higher_is_better
from rushes.distribution.detail_tables import DIFFERENCE, difference_rows, verdict_of
from rushes.distribution.tables import DistanceRow, distance_rows
from rushes.report.chart_style import (
    BLUE,
    GREY,
    ORANGE,
    Room,
    drawn,
    load_altair,
    number_axis,
    row_axis,
    row_height,
    side_by_side,
)
from rushes.report.figure import Figure

MOST_CLASSES = 60
"""Lines of one figure; more are in the table alone, and one alone is no chart."""


def difference_figures(measurements: Sequence[Measurement]) -> Iterator[Figure]:
    """Each distance's difference with its interval, and where 0 is; the shares' together."""
    together: dict[str, list[Measurement]] = {}
    for m in difference_rows(measurements):
        if m.value is not None and m.interval is not None:
            metric = m.name.removesuffix(DIFFERENCE)
            together.setdefault("" if higher_is_better(metric) else metric, []).append(m)
    for metric, found in together.items():
        said = verdict_of(found[0])
        words = f"{said[:1].upper()}{said[1:]}. " if len(found) == 1 else ""
        caption = f"{words}Lines are 95 % intervals; where one holds 0, the two cannot be told apart."
        title = (heading(metric) or "Shares") + ": {first} less {versus}".format(**found[0].place)
        yield drawn(title, caption, partial(_difference_chart, metric, found))


def _difference_chart(metric: str, found: Sequence[Measurement], room: Room) -> Any:
    altair = load_altair()
    several = len({keys_of(m)["protocol"] for m in found}) > 1
    points: list[dict[str, Any]] = []
    for m in found:
        if m.interval is not None:
            named = [] if metric else [m.name.removesuffix(DIFFERENCE)]
            row = " · ".join(named + [keys_of(m)["protocol"]] * (several or not named))
            point = {"row": row, "value": m.value, "label": value_text(m)}
            points.append(point | {"low": m.interval.low, "high": m.interval.high})
    first, other = found[0].place["first"], found[0].place["versus"]
    ahead = (f"{first} closer", f"{other} closer") if metric else (f"{other} higher", f"{first} higher")
    words = (f"← {ahead[0]}", f"{ahead[1]} →")
    title: Any = list(words) if room.columns == 1 else " · difference · ".join(words)
    x = number_axis([point[key] for point in points for key in ("value", "low", "high")], title, most=room.ticks)
    names = [point["row"] for point in points]
    base = altair.Chart(altair.Data(values=points), width=room.width, height=row_height(names, room, least=40))
    y = row_axis(names, room)
    zero = altair.Chart(altair.Data(values=[{"value": 0}])).mark_rule(color=GREY, strokeDash=[4, 4]).encode(x=x)
    return altair.layer(
        zero,
        base.mark_rule(color=BLUE, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y),
        base.mark_point(filled=True, size=90, color=BLUE, opacity=1).encode(x=x, y=y),
        base.mark_text(align="center", dy=-13).encode(x=x, y=y, text="label:N"),
    )


def curve_figures(measurements: Sequence[Measurement]) -> Iterator[Figure]:
    """The value over N, and over 1/N with the line to infinitely many clips, for each metric and protocol."""
    series: dict[tuple[str, str], list[DistanceRow]] = {}
    for row in distance_rows(measurements, key="n"):
        if row.value.value is not None:
            series.setdefault(row.series, []).append(row)
    ends = {row.series: row.extrapolated for row in distance_rows(measurements)}
    for key, rows in series.items():
        end = ends.get(key)
        limit = None if end is None or end.value is None else float(end.value)
        caption = "The same clips, fewer of them: each point is a random subset of both sets, the line their mean. "
        if rows[0].value.definition.param("covariance"):
            caption += "What falls with N is bias, not difference. "
        if limit is not None:
            caption += (
                f"From N = D on it is a line over 1/N, which meets infinitely many clips at {number_text(limit)}."
            )
        elif end is not None:
            caption += f"A line to infinite N needs more clips than features (D = {rows[0].setting('d')})."
        if len({row.value.place["n"] for row in rows}) > 1:
            head = _headed(f"{heading(key[0])} against N", key[1])
            yield drawn(head, caption, partial(_curve_chart, key[0], rows, limit))


def _curve_chart(metric: str, rows: Sequence[DistanceRow], limit: float | None, room: Room) -> Any:
    altair = load_altair()
    points = [{"n": int(row.value.place["n"]), "value": float(row.value.value or 0.0)} for row in rows]
    points = [point | {"inverse": 1 / point["n"]} for point in points]
    sizes = sorted({int(point["n"]) for point in points})
    means = [{"n": n, "value": float(np.mean([p["value"] for p in points if p["n"] == n]))} for n in sizes]
    y = number_axis([point["value"] for point in points] + [limit or 0.0], metric, vertical=True)
    scale = altair.Scale(type="log", base=2, domain=[sizes[0] * 0.9, sizes[-1] * 1.1], nice=False)
    x = altair.X("n:Q", title="clips in each set", scale=scale, axis=altair.Axis(values=_shown(sizes), format=",d"))
    size = {"width": max(room.panel, 220), "height": 200}
    left = altair.layer(
        altair.Chart(altair.Data(values=means), **size).mark_line(color=BLUE).encode(x=x, y=y),
        altair.Chart(altair.Data(values=points), **size).mark_point(size=40, color=BLUE).encode(x=x, y=y),
    )
    if limit is None:
        return left
    kept = [p for p in points if p["n"] >= int(rows[0].setting("d"))]
    slope = sum((p["value"] - limit) * p["inverse"] for p in kept) / sum(p["inverse"] ** 2 for p in kept)
    far = max(p["inverse"] for p in kept)
    line = [{"inverse": 0.0, "value": limit}, {"inverse": far, "value": limit + slope * far}]
    across = number_axis([far], "1 / clips in each set", field="inverse:Q", most=4)
    y = number_axis([point["value"] for point in (*kept, *line)], metric, vertical=True)
    right = altair.layer(
        altair.Chart(altair.Data(values=line), **size).mark_line(color=ORANGE).encode(x=across, y=y),
        altair.Chart(altair.Data(values=kept), **size).mark_point(size=40, color=BLUE).encode(x=across, y=y),
        altair.Chart(altair.Data(values=line[:1]), **size)
        .mark_point(shape="diamond", size=90, color=ORANGE)
        .encode(x=across, y=y),
    )
    return side_by_side([left, right], room).resolve_scale(x="independent", y="independent")


def _shown(sizes: Sequence[int]) -> list[int]:
    """The sizes that have a tick: far enough apart on a log scale for their digits."""
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or kept[-1] >= 1.6 * size:
            kept.append(size)
    return kept[::-1]


def class_figures(measurements: Sequence[Measurement]) -> Iterator[Figure]:
    """Each metric over the classes, under each protocol, in the order of the table."""
    series: dict[tuple[str, str], list[DistanceRow]] = {}
    for row in distance_rows(measurements, key="class"):
        if row.value.value is not None:
            series.setdefault(row.series, []).append(row)
    for (metric, protocol), rows in series.items():
        if not 1 < len(rows) <= MOST_CLASSES:
            continue
        points: list[dict[str, Any]] = [_class_point(row) for row in rows]
        title = f"{metric} ({'higher is better' if rows[0].is_share else 'lower is closer'})"
        caption = "Each class by itself, with its number of generated and real clips."
        if len({(row.setting("n_gen"), row.setting("n_gt")) for row in rows}) > 1:
            caption += " The classes differ in size: what depends on N does not compare between them."
        most = 1.0 if rows[0].is_share else 0.0
        head = _headed(f"{heading(metric)} by class", protocol)
        yield drawn(head, caption, partial(point_chart, points, title, most=most))


def _headed(words: str, protocol: str) -> str:
    return f"{words} (protocol {protocol})"


def _class_point(row: DistanceRow) -> dict[str, Any]:
    label = f"{row.value.place['class']} ({row.setting('n_gen')} vs {row.setting('n_gt')})"
    point: dict[str, Any] = {"row": label, "value": row.value.value, "label": value_text(row.value)}
    if row.value.interval:
        point |= {"low": row.value.interval.low, "high": row.value.interval.high}
    return point
