"""The distribution report's figures: each metric under each protocol, with its interval, and what went into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rushes.core.text import value_text
from rushes.distribution.feature_definitions import GIVEN_METRICS
from rushes.distribution.protocols import METRICS
from rushes.distribution.tables import DistanceRow, distance_rows
from rushes.errors import MissingDependency
from rushes.report.figure import Figure, chart_svg
from rushes.runs import Run

_COLOUR = "#0b6fa4"


def charts(run: Run) -> tuple[Figure, ...]:
    """One figure per metric: a point per protocol, its interval as a line, the extrapolated value as a diamond."""
    rows = distance_rows(m for entry in run.entries for m in entry.measurements)
    by_metric: dict[str, list[DistanceRow]] = {}
    for row in sorted(rows, key=lambda row: (*METRICS, *GIVEN_METRICS).index(row.value.name)):
        if row.value.value is not None:
            by_metric.setdefault(row.metric, []).append(row)
    return tuple(
        Figure(_title(metric, rows), _caption(rows), chart_svg(_chart(metric, rows)))
        for metric, rows in by_metric.items()
    )


def _title(metric: str, rows: Sequence[DistanceRow]) -> str:
    if len(rows) == 1:
        return f"{metric} under {rows[0].setting('protocol')}"
    return f"{metric}: the same two sets, {len(rows)} protocols"


def _caption(rows: Sequence[DistanceRow]) -> str:
    sizes = list(dict.fromkeys(map(_sizes, rows)))
    parts = [f"Lower is closer to the ground truth. {sizes[0]}." if len(sizes) == 1 else "Lower is closer."]
    if len(rows) > 1 and len(sizes) == 1:
        values = [float(row.value.value or 0.0) for row in rows]
        parts.append("The clips are the same; the protocol alone moves the number ")
        parts[-1] += f"from {min(values):.4g} to {max(values):.4g}."
    elif len(rows) > 1:
        named = "; ".join(f"{row.setting('protocol')}: {_sizes(row)}" for row in rows)
        parts.append(f"Some protocols leave out clips that are too short for them ({named}).")
    if any(row.value.interval for row in rows):
        parts.append("Lines are 95 % intervals.")
    if any(row.extrapolated for row in rows):
        parts.append("Diamonds are the values at infinitely many clips.")
    if any(row.is_random for row in rows):
        parts.append("Random weights: these numbers compare only with themselves.")
    return " ".join(parts)


def _sizes(row: DistanceRow) -> str:
    return f"{row.setting('n_gen')} and {row.setting('n_gt')} clips, D = {row.setting('d')}"


def _point(row: DistanceRow) -> dict[str, Any]:
    """What the chart draws of one distance."""
    point = {"protocol": row.setting("protocol"), "value": row.value.value, "label": value_text(row.value)}
    if row.value.interval:
        point |= {"low": row.value.interval.low, "high": row.value.interval.high}
    if row.extrapolated and row.extrapolated.value is not None:
        point["extrapolated"] = row.extrapolated.value
    return point


def _chart(metric: str, rows: Sequence[DistanceRow]) -> Any:
    altair = _altair()
    points = [_point(row) for row in rows]
    base = altair.Chart(altair.Data(values=points), width=460, height=max(60, 34 * len(points)))
    y = altair.Y("protocol:N", sort=[point["protocol"] for point in points], title=None)
    from_0 = rows[0].value.definition.lowest is not None
    scale = altair.Scale(zero=from_0, nice=True, padding=28)
    x = altair.X("value:Q", title=f"{metric} (lower is closer)", scale=scale)
    layers = [
        base.mark_point(filled=True, size=90, color=_COLOUR).encode(x=x, y=y),
        base.mark_text(align="center", dy=-12, fontSize=11).encode(x=x, y=y, text="label:N"),
    ]
    if any("low" in point for point in points):
        layers.insert(0, base.mark_rule(color=_COLOUR, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y))
    if any("extrapolated" in point for point in points):
        layers.append(base.mark_point(shape="diamond", size=90, color="#c2571a").encode(x="extrapolated:Q", y=y))
    return altair.layer(*layers)


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair
