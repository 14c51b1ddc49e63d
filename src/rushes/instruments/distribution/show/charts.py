"""The distribution report's figures: each metric under each protocol, with its interval, and what went into it; then
the difference of two models, the value against N, the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.core.words.definition_text import value_text
from rushes.core.words.number_text import number_text
from rushes.instruments.distribution.definitions import higher_is_better
from rushes.instruments.distribution.protocols import GIVEN_METRICS, METRICS
from rushes.instruments.distribution.show.tables import (
    DIFFERENCE,
    DistanceRow,
    difference_rows,
    distance_rows,
    first_name,
    verdict_of,
    with_second,
)
from rushes.present.charts.dot_chart import dot, dot_chart
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import BLUE, ORANGE, Room, drawn, load_altair, number_axis, side_by_side
from rushes.storage.runs import Run

SHARES = "precision, recall, density, coverage"


def charts(run: Run) -> tuple[Figure, ...]:
    """One figure per distance and one for the shares; then differences, curves and classes, where there are any.

    A point per protocol, its interval as a line, the extrapolated value as a diamond. One point alone is no chart: the
    section's first sentence and its table say what it is.
    """
    numbers = [m for entry in run.entries for m in entry.measurements]
    rows = with_second(distance_rows(numbers), distance_rows(numbers, key="set"))
    by_metric: dict[str, list[DistanceRow]] = {}
    for row in sorted(rows, key=lambda row: (*METRICS, *GIVEN_METRICS).index(row.value.name)):
        if row.value.value is not None:
            by_metric.setdefault(SHARES if row.is_share else row.metric, []).append(row)
    whole = [
        drawn(_title(metric, rows), _caption(rows), partial(_chart, metric, rows, first_name(numbers)))
        for metric, rows in by_metric.items()
        if len(rows) > 1
    ]
    return (*whole, *difference_figures(numbers), *curve_figures(numbers), *class_figures(numbers))


def _title(metric: str, rows: Sequence[DistanceRow]) -> str:
    protocols = list(dict.fromkeys(row.setting("protocol") for row in rows))
    name = heading(metric)
    if metric == SHARES:
        name = ", ".join(dict.fromkeys(row.metric for row in rows)).capitalize()
    return (
        f"{name} (protocol {protocols[0]})"
        if len(protocols) == 1
        else f"{name}: the same two sets, {len(protocols)} protocols"
    )


def _caption(rows: Sequence[DistanceRow]) -> str:
    sizes = list(dict.fromkeys(map(_sizes, rows)))
    way = "Higher is better." if rows[0].is_share else "Lower is closer to the ground truth."
    parts = [f"{way} {sizes[0]}." if len(sizes) == 1 else way]
    protocols = {row.setting("protocol") for row in rows}
    if len(protocols) > 1 and len(sizes) == 1 and not rows[0].is_share:
        values = [float(row.value.value or 0.0) for row in rows]
        parts.append("The clips are the same; only the protocol changes the value ")
        parts[-1] += f"from {number_text(min(values))} to {number_text(max(values))}."
    elif len(protocols) > 1 and len(sizes) > 1:
        named = "; ".join(f"{row.setting('protocol')}: {_sizes(row)}" for row in rows)
        parts.append(f"Some protocols leave out clips that are too short for them ({named}).")
    if rows[0].is_share:
        parts.append("Precision and density: do generated clips look real? Recall and coverage: is every kind there?")
    if any(row.value.interval for row in rows):
        parts.append("Lines are 95 % intervals.")
    if any(row.extrapolated and row.extrapolated.value is not None for row in rows):
        parts.append("Diamonds are the values at infinitely many clips.")
    if any(row.is_random for row in rows):
        parts.append("Random weights: these values are comparable only with each other.")
    return " ".join(parts)


def _sizes(row: DistanceRow) -> str:
    return f"{row.setting('n_gen')} vs {row.setting('n_gt')} clips, D = {row.setting('d')}"


def _labels(rows: Sequence[DistanceRow], first: str) -> list[str]:
    """What tells the rows apart: metric, protocol and set, as far as they differ."""
    options = [[row.metric, row.setting("protocol"), row.value.place.get("set", first)] for row in rows]
    telling = [column for column in range(3) if len({option[column] for option in options}) > 1] or [1]
    return [" · ".join(option[column] for column in telling) for option in options]


def _chart(metric: str, rows: Sequence[DistanceRow], first: str, room: Room) -> Any:
    dots = [
        dot(row.value, label, text=value_text(row.value), limit=row.extrapolated)
        for row, label in zip(rows, _labels(rows, first), strict=True)
    ]
    shares = rows[0].is_share
    title = "share (higher is better)" if shares else f"{metric} (lower is closer)"
    return dot_chart(dots, title, room, most=1.0 if shares else 0.0)


MOST_CLASSES = 60
"""Lines of one figure; more are in the table alone, and one alone is no chart."""


def heading(metric: str) -> str:
    """A metric's name at the head of a figure.

    >>> heading("fvd"), heading("fvd on r3d50"), heading("recall")
    ('FVD', 'FVD on r3d50', 'Recall')
    """
    name, _, rest = metric.partition(" ")
    words = name.upper() if "vd" in name or "id" in name else name.capitalize()
    return f"{words} {rest}".rstrip()


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
        caption = f"{words}Lines are 95 % intervals; one that includes 0 shows no significant difference."
        title = (heading(metric) or "Shares") + ": {first} less {versus}".format(**found[0].place)
        yield drawn(title, caption, partial(_difference_chart, metric, found))


def _difference_chart(metric: str, found: Sequence[Measurement], room: Room) -> Any:
    several = len({keys_of(m)["protocol"] for m in found}) > 1
    dots = []
    for m in found:
        named = [] if metric else [m.name.removesuffix(DIFFERENCE)]
        row = " · ".join(named + [keys_of(m)["protocol"]] * (several or not named))
        dots.append(dot(m, row, text=value_text(m)))
    first, other = found[0].place["first"], found[0].place["versus"]
    ahead = (f"{first} closer", f"{other} closer") if metric else (f"{other} higher", f"{first} higher")
    words = (f"← {ahead[0]}", f"{ahead[1]} →")
    title: Any = list(words) if room.columns == 1 else " · difference · ".join(words)
    return dot_chart(dots, title, room, rule=0.0)


def curve_figures(measurements: Sequence[Measurement]) -> Iterator[Figure]:
    """The value over N, and over 1/N with the line to infinitely many clips, for each metric and protocol."""
    ends = {row.series: row.extrapolated for row in distance_rows(measurements)}
    for key, rows in _by_series(measurements, "n").items():
        end = ends.get(key)
        limit = None if end is None or end.value is None else float(end.value)
        caption = "The same clips, fewer of them: each point is a random subset of both sets, the line their mean. "
        if rows[0].value.definition.param("covariance"):
            caption += "A value that falls with N shows bias, not a difference. "
        if limit is not None:
            caption += (
                f"From N = D on it is a line over 1/N, which meets infinitely many clips at {number_text(limit)}."
            )
        elif end is not None:
            caption += f"A line to infinite N needs more clips than features (D = {rows[0].setting('d')})."
        if len({row.value.place["n"] for row in rows}) > 1:
            head = f"{heading(key[0])} against N (protocol {key[1]})"
            yield drawn(head, caption, partial(_curve_chart, key[0], rows, limit))


def _by_series(measurements: Sequence[Measurement], key: str) -> dict[tuple[str, str], list[DistanceRow]]:
    """The values about parts of the sets, by metric and protocol."""
    series: dict[tuple[str, str], list[DistanceRow]] = {}
    for row in distance_rows(measurements, key=key):
        if row.value.value is not None:
            series.setdefault(row.series, []).append(row)
    return series


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
    for (metric, protocol), rows in _by_series(measurements, "class").items():
        if not 1 < len(rows) <= MOST_CLASSES:
            continue
        sizes = [f"{row.setting('n_gen')} vs {row.setting('n_gt')}" for row in rows]
        labels = [f"{row.value.place['class']} ({size})" for row, size in zip(rows, sizes, strict=True)]
        dots = [dot(row.value, label, text=value_text(row.value)) for row, label in zip(rows, labels, strict=True)]
        title = f"{metric} ({'higher is better' if rows[0].is_share else 'lower is closer'})"
        caption = "Each class by itself, with its number of generated and real clips."
        if len(set(sizes)) > 1:
            caption += " The classes differ in size: what depends on N does not compare between them."
        most = 1.0 if rows[0].is_share else 0.0
        head = f"{heading(metric)} by class (protocol {protocol})"
        yield drawn(head, caption, partial(dot_chart, dots, title, most=most))
