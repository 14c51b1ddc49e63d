"""The human study's figures: ranking with intervals, agreement per task family, and metrics against votes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rushes.core import Measurement
from rushes.errors import MissingDependency
from rushes.preference.conditions import ALL_FAMILIES, plain_text
from rushes.preference.rubric import FAMILIES
from rushes.report.figure import Figure, chart_svg
from rushes.runs import Entry, Run

# Told apart by every common kind of colour blindness, and by shape as well.
_COLOURS = ("#0b6fa4", "#c2571a", "#5b6770")
_SHAPES = ("circle", "square", "diamond")
_WIDTH = 460
_ROW = 30
_ROW_OF_KIND = 16
_ESTIMATES = {"krippendorff_alpha": "Krippendorff α", "gwet_ac1": "Gwet AC1"}


def charts(run: Run) -> tuple[Figure, ...]:
    """Per study: what can be drawn of its measurements; a study without a ranking gives no ranking chart."""
    figures: list[Figure] = []
    for entry in run.entries:
        if entry.subject.kind == "study":
            figures += _ranking(entry)
            figures += _agreement(entry)
            figures += _metrics(entry)
    return tuple(figures)


def _ranking(entry: Entry) -> Iterator[Figure]:
    rows = _intervals(entry.measurements, "bt_elo", ("system", "exclusion"))
    if not rows:
        return
    first = [row for row in rows if row["exclusion"] == "none"] or rows
    order = [row["system"] for row in sorted(first, key=lambda row: (-row["value"], row["system"]))]
    rules = list(dict.fromkeys(row["exclusion"] for row in rows))
    params = rows[0]["params"]
    named = [row | {"rule": _rule(row["exclusion"])} for row in rows]
    yield Figure(
        f"{entry.subject.id}: ranking",
        f"Strength by pairwise votes on the Elo scale (1000 is the mean), ties by {params['ties']}, with "
        f"{_interval_words(rows)} intervals of {params['raters']} raters. Where intervals overlap, the order is open.",
        chart_svg(_dot_chart(named, "system", order, "rule", [_rule(rule) for rule in rules], "Elo", None)),
    )


def _agreement(entry: Entry) -> Iterator[Figure]:
    own = [m for m in entry.measurements if dict(m.definition.params).get("exclusion") == "none"]
    rows = [row | {"kind": "percent agreement"} for row in _intervals(own, "percent_agreement", ("family",))]
    if not rows:
        return
    for measurement in own:
        params = dict(measurement.definition.params)
        kind = _ESTIMATES.get(measurement.definition.name)
        if kind and params.get("level", "nominal") == "nominal" and measurement.value is not None:
            value = float(measurement.value)
            rows.append({"family": plain_text(params["family"]), "kind": kind, "value": value})
    rows = [row | {"family": _family(row["family"])} for row in rows]
    families = list(dict.fromkeys(row["family"] for row in rows))
    kinds = ["percent agreement", *_ESTIMATES.values()]
    lowest = min(0.0, *(math.floor(float(row["value"]) * 10.0) / 10.0 for row in rows))
    yield Figure(
        f"{entry.subject.id}: agreement per task family",
        "How often two raters chose the same winner, with Wilson's interval over samples, beside two coefficients that "
        "take chance into account (0 is what chance gives). A family far below the others needs clearer instructions.",
        chart_svg(_dot_chart(rows, "family", families, "kind", kinds, "agreement", [lowest, 1.0])),
    )


def _metrics(entry: Entry) -> Iterator[Figure]:
    kept = [
        m
        for m in entry.measurements
        if dict(m.definition.params).get("ties") == "drop"
        and dict(m.definition.params).get("interval", "rater-clustered") == "rater-clustered"
    ]
    found = _intervals(kept, "metric_picks_winner", ("metric",))
    if not found:
        return
    short = Counter(_short(row["metric"]) for row in found)
    rows = [
        row | {"name": _short(row["metric"]) if short[_short(row["metric"])] == 1 else row["metric"], "kind": "decided"}
        for row in found
    ]
    order = [row["name"] for row in sorted(rows, key=lambda row: (-row["value"], row["name"]))]
    chart = _dot_chart(rows, "name", order, "kind", ["decided"], "picks the winner", [0.0, 1.0])
    yield Figure(
        f"{entry.subject.id}: metrics against votes",
        "How often each metric's better clip is the one people chose, with rater-clustered intervals. The dashed line "
        "is a coin; an interval across it says nothing.",
        chart_svg(_with_rule(chart, 0.5)),
    )


def _intervals(measurements: Sequence[Measurement], name: str, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """One row per key: estimate, lower, upper; rows without an estimate are left out."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for measurement in measurements:
        params = dict(measurement.definition.params)
        if measurement.definition.name != name or measurement.value is None:
            continue
        key = tuple(params[k] for k in keys)
        row = found.setdefault(key, {k: plain_text(v) for k, v in zip(keys, key, strict=True)})
        column = "value" if params["bound"] == "estimate" else params["bound"]
        row[column] = float(measurement.value)
        row["params"] = row.get("params", {}) | params
    return [row for row in found.values() if "value" in row]


def _dot_chart(
    rows: Sequence[Mapping[str, Any]],
    label: str,
    order: Sequence[str],
    kind: str,
    kinds: Sequence[str],
    title: str,
    domain: Sequence[float] | None,
) -> Any:
    """Dots with interval bars, one line per label, kinds side by side within it."""
    altair = _altair()
    data = [{k: v for k, v in row.items() if k != "params"} for row in rows]
    scale = altair.Scale(domain=list(domain)) if domain else altair.Scale(zero=False, nice=True)
    colour = altair.Scale(domain=list(kinds), range=list(_COLOURS[: len(kinds)]))
    legend = altair.Legend(title=None, orient="top", labelLimit=0) if len(kinds) > 1 else None
    base = altair.Chart(
        altair.Data(values=data), width=_WIDTH, height=altair.Step(_ROW if len(kinds) == 1 else _ROW_OF_KIND)
    )
    y = altair.Y(f"{label}:N", sort=list(order), title=None, axis=altair.Axis(labelLimit=220))
    shift = altair.YOffset(f"{kind}:N", sort=list(kinds))
    tint = altair.Color(f"{kind}:N", scale=colour, legend=legend)
    marks = altair.Shape(
        f"{kind}:N", scale=altair.Scale(domain=list(kinds), range=list(_SHAPES[: len(kinds)])), legend=legend
    )
    bars = (
        base.transform_filter("isValid(datum.lower)")
        .mark_rule(strokeWidth=2)
        .encode(y=y, yOffset=shift, x=altair.X("lower:Q", scale=scale, title=title), x2="upper:Q", color=tint)
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=y, yOffset=shift, x=altair.X("value:Q", scale=scale, title=title), color=tint, shape=marks
    )
    return bars + dots


def _with_rule(chart: Any, at: float) -> Any:
    altair = _altair()
    line = altair.Chart(altair.Data(values=[{"at": at}])).mark_rule(strokeDash=[4, 4], color="#5b6770")
    return line.encode(x="at:Q") + chart


def _family(family: str) -> str:
    """ "T2 temporal", "all families" """
    if family == ALL_FAMILIES:
        return "all families"
    return f"{family} {FAMILIES[family]}" if family in FAMILIES else family


def _rule(exclusion: str) -> str:
    return "all raters" if exclusion == "none" else f"after excluding {exclusion}"


def _interval_words(rows: Sequence[Mapping[str, Any]]) -> str:
    params = rows[0]["params"]
    if "interval" not in params:
        return "no"
    return f"{float(params['confidence']) * 100:g} % {params['interval']}"


def _short(metric: str) -> str:
    """A metric's name, enough for an axis where no other metric shares it."""
    return metric.split(";", 1)[0]


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair
