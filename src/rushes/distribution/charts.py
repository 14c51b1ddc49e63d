"""The distribution report's figures: each metric under each protocol, with its interval, and what went into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rushes.core import Measurement
from rushes.core.text import value_text
from rushes.errors import MissingDependency
from rushes.report.figure import Figure, chart_svg
from rushes.runs import Run

_COLOUR = "#0b6fa4"
_FIRST = ("fvd", "fid-vid", "kvd")


def charts(run: Run) -> tuple[Figure, ...]:
    """One figure per metric: a point per protocol, its interval as a line, the extrapolated value as a diamond."""
    figures: list[Figure] = []
    for entry in run.entries:
        if entry.subject.kind == "set" and entry.measurements:
            figures += _figures(entry.measurements)
    return tuple(figures)


def _figures(measurements: Sequence[Measurement]) -> Iterator[Figure]:
    for metric in _FIRST:
        rows = _rows(metric, measurements)
        if rows:
            yield Figure(_title(metric, rows), _caption(metric, rows), chart_svg(_chart(metric, rows)))


def _rows(metric: str, measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """One row per protocol: the value and what stands beside it, in stored order."""
    rows: dict[str, dict[str, Any]] = {}
    for m in measurements:
        name, _, kind = m.definition.name.partition("_")
        if name != metric or m.value is None:
            continue
        params = dict(m.definition.params)
        row = rows.setdefault(params["protocol"], {"protocol": params["protocol"], "weights": params["weights"]})
        row[kind or "value"] = float(m.value)
        row["sizes"] = f"{params['n_gen']} and {params['n_gt']} clips, D = {params['d']}"
        if not kind:
            row["label"] = value_text(m)
    return [row for row in rows.values() if "value" in row]


def _title(metric: str, rows: Sequence[dict[str, Any]]) -> str:
    return (
        f"{metric} under {rows[0]['protocol']}"
        if len(rows) == 1
        else f"{metric}: the same two sets, {len(rows)} protocols"
    )


def _caption(metric: str, rows: Sequence[dict[str, Any]]) -> str:
    sizes = list(dict.fromkeys(str(row["sizes"]) for row in rows))
    parts = [f"Lower is closer to the ground truth. {sizes[0]}." if len(sizes) == 1 else "Lower is closer."]
    if len(rows) > 1 and len(sizes) == 1:
        values = [row["value"] for row in rows]
        parts.append("The clips are the same; the protocol alone moves the number ")
        parts[-1] += f"from {min(values):.4g} to {max(values):.4g}."
    elif len(rows) > 1:
        named = "; ".join(f"{row['protocol']}: {row['sizes']}" for row in rows)
        parts.append(f"Some protocols leave out clips that are too short for them ({named}).")
    if any("low" in row for row in rows):
        parts.append("Lines are 95 % intervals.")
    if any("extrapolated" in row for row in rows):
        parts.append("Diamonds are the values at infinitely many clips.")
    if any(str(row["weights"]).startswith("random") for row in rows):
        parts.append("Random weights: these numbers compare only with themselves.")
    return " ".join(parts)


def _chart(metric: str, rows: Sequence[dict[str, Any]]) -> Any:
    altair = _altair()
    order = [row["protocol"] for row in rows]
    base = altair.Chart(altair.Data(values=list(rows)), width=460, height=max(60, 34 * len(rows)))
    y = altair.Y("protocol:N", sort=order, title=None)
    x = altair.X(
        "value:Q", title=f"{metric} (lower is closer)", scale=altair.Scale(zero=metric != "kvd", nice=True, padding=28)
    )
    layers = [
        base.mark_point(filled=True, size=90, color=_COLOUR).encode(x=x, y=y),
        base.mark_text(align="center", dy=-12, fontSize=11).encode(x=x, y=y, text="label:N"),
    ]
    if any("low" in row for row in rows):
        layers.insert(0, base.mark_rule(color=_COLOUR, strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y))
    if any("extrapolated" in row for row in rows):
        layers.append(base.mark_point(shape="diamond", size=90, color="#c2571a").encode(x="extrapolated:Q", y=y))
    return altair.layer(*layers)


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair
