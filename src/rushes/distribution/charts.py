"""The distribution report's figures: each metric under each protocol, with its interval, and what went into it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rushes.core.numbers import number_text
from rushes.core.text import value_text
from rushes.distribution.chart_parts import heading, point_chart
from rushes.distribution.detail_charts import class_figures, curve_figures, difference_figures
from rushes.distribution.detail_tables import first_name, with_second
from rushes.distribution.feature_definitions import GIVEN_METRICS
from rushes.distribution.protocols import METRICS
from rushes.distribution.tables import DistanceRow, distance_rows
from rushes.report.chart_style import Room, drawn
from rushes.report.figure import Figure
from rushes.runs import Run

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
        parts.append("The clips are the same; the protocol alone moves the number ")
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
        parts.append("Random weights: these numbers compare only with themselves.")
    return " ".join(parts)


def _sizes(row: DistanceRow) -> str:
    return f"{row.setting('n_gen')} vs {row.setting('n_gt')} clips, D = {row.setting('d')}"


def _labels(rows: Sequence[DistanceRow], first: str) -> list[str]:
    """What tells the rows apart: metric, protocol and set, as far as they differ."""
    options = [[row.metric, row.setting("protocol"), row.value.place.get("set", first)] for row in rows]
    telling = [column for column in range(3) if len({option[column] for option in options}) > 1] or [1]
    return [" · ".join(option[column] for column in telling) for option in options]


def _point(row: DistanceRow, label: str) -> dict[str, Any]:
    """What the chart draws of one distance."""
    point = {"row": label, "value": row.value.value, "label": value_text(row.value)}
    if row.value.interval:
        point |= {"low": row.value.interval.low, "high": row.value.interval.high}
    if row.extrapolated and row.extrapolated.value is not None:
        point["extrapolated"] = row.extrapolated.value
    return point


def _chart(metric: str, rows: Sequence[DistanceRow], first: str, room: Room) -> Any:
    points = [_point(row, label) for row, label in zip(rows, _labels(rows, first), strict=True)]
    shares = rows[0].is_share
    title = "share (higher is better)" if shares else f"{metric} (lower is closer)"
    return point_chart(points, title, room, most=1.0 if shares else 0.0)
