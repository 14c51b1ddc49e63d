"""The human study's figures: ranking with intervals, agreement per task family, and metrics against votes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.errors import MissingDependency
from rushes.preference.tables import agreement, exclusion_rules, interval_words, metric_names, predictions, ranked
from rushes.report.figure import Figure, chart_svg
from rushes.runs import Entry, Run

# Told apart by every common kind of colour blindness, and by shape as well.
_COLOURS = ("#0b6fa4", "#c2571a", "#5b6770")
_SHAPES = ("circle", "square", "diamond")
_WIDTH = 460
_ROW = 30
_ROW_OF_KIND = 16
_KINDS = (1, 3, 4)
"""Columns of the agreement table that are drawn: the share, α and AC1."""


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
    rules = exclusion_rules(entry.measurements)
    drawn = {rule: _with_value(ranked(entry.measurements, exclusion=rule)) for rule in rules}
    rows = [_dot(m, system=m.place["system"], rule=_rule(rule)) for rule, found in drawn.items() for m in found]
    if not rows:
        return
    found = [m for rule in rules for m in drawn[rule]]
    order = list(dict.fromkeys(m.place["system"] for m in found))
    shown = [_rule(rule) for rule in rules if drawn[rule]]
    yield Figure(
        f"{entry.subject.id}: ranking",
        f"Strength by pairwise votes on the Elo scale (1000 is the mean), ties by {keys_of(found[0])['ties']}, of "
        f"{_raters(entry)}. {interval_words(found)} Where intervals overlap, the order is open.",
        chart_svg(_dot_chart(rows, "system", order, "rule", shown, "Elo", None)),
    )


def _agreement(entry: Entry) -> Iterator[Figure]:
    table = agreement(entry.measurements)
    kinds = [table.header[column].removesuffix(" ↑") for column in _KINDS]
    rows = [
        _dot(cell.measurement, family=row[0].text, kind=kind)
        for row in table.rows
        for kind, cell in zip(kinds, (row[column] for column in _KINDS), strict=True)
        if cell.measurement is not None and cell.measurement.value is not None
    ]
    if not rows:
        return
    families = list(dict.fromkeys(row["family"] for row in rows))
    lowest = min(0.0, *(math.floor(row["value"] * 10.0) / 10.0 for row in rows))
    yield Figure(
        f"{entry.subject.id}: agreement per task family",
        "How often a sample's first raters chose the same winner, with Wilson's interval over samples, beside two "
        "coefficients that take chance into account (0 is what chance gives), with jackknife intervals. "
        "A family far below the others needs clearer instructions.",
        chart_svg(_dot_chart(rows, "family", families, "kind", kinds, "agreement", [lowest, 1.0])),
    )


def _metrics(entry: Entry) -> Iterator[Figure]:
    picks = _with_value(predictions(entry.measurements))
    if not picks:
        return
    names = metric_names(picks)
    rows = [_dot(m, name=names[m.place["reading"]], kind="decided") for m in picks]
    order = [row["name"] for row in rows]
    chart = _dot_chart(rows, "name", order, "kind", ["decided"], "picks the winner", [0.0, 1.0])
    yield Figure(
        f"{entry.subject.id}: metrics against votes",
        "How often each metric's better clip is the one people chose, with their intervals. The dashed line "
        "is a coin; an interval across it says nothing.",
        chart_svg(_with_rule(chart, 0.5)),
    )


def _with_value(measurements: Iterable[Measurement]) -> list[Measurement]:
    return [m for m in measurements if m.value is not None]


def _dot(measurement: Measurement, **words: str) -> dict[str, Any]:
    """One row of a chart's data: value, the ends of its interval where it has one, and these words."""
    row: dict[str, Any] = {**words, "value": float(measurement.value or 0.0)}
    if measurement.interval is not None:
        row |= {"lower": measurement.interval.low, "upper": measurement.interval.high}
    return row


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
    scale = altair.Scale(domain=list(domain)) if domain else altair.Scale(zero=False, nice=True)
    colour = altair.Scale(domain=list(kinds), range=list(_COLOURS[: len(kinds)]))
    legend = altair.Legend(title=None, orient="top", labelLimit=0) if len(kinds) > 1 else None
    base = altair.Chart(
        altair.Data(values=list(rows)), width=_WIDTH, height=altair.Step(_ROW if len(kinds) == 1 else _ROW_OF_KIND)
    )
    y = altair.Y(f"{label}:N", sort=list(order), title=None, axis=altair.Axis(labelLimit=0))
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


def _rule(exclusion: str) -> str:
    return "all raters" if exclusion == "none" else f"after excluding {exclusion}"


def _raters(entry: Entry) -> str:
    """ "6 raters", as the study's subject says; "its raters" where it does not."""
    known = entry.subject.facts.get("raters")
    return "its raters" if known is None else f"{known} raters"


def _altair() -> Any:
    """Altair without its types: its generated signatures are too narrow for values that are computed."""
    try:
        import altair
    except ImportError:
        raise MissingDependency("charts need altair; run: pip install 'rushes[report]'") from None
    return altair
