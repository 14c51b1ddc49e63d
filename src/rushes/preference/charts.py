"""The human study's figures: ranking with intervals, agreement per task family, and metrics against votes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rushes.core import Measurement
from rushes.core.selection import keys_of
from rushes.preference.tables import agreement, exclusion_rules, interval_words, metric_names, predictions, ranked
from rushes.report.chart_style import (
    GREY,
    KINDS,
    SHAPES,
    Room,
    drawn,
    kind_legend,
    load_altair,
    number_axis,
    row_axis,
    wrapped,
)
from rushes.report.figure import Figure
from rushes.runs import Entry, Run

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
    found_by = {rule: _with_value(ranked(entry.measurements, exclusion=rule)) for rule in rules}
    rows = [_dot(m, system=m.place["system"], rule=_rule(rule)) for rule, found in found_by.items() for m in found]
    if not rows:
        return
    found = [m for rule in rules for m in found_by[rule]]
    order = list(dict.fromkeys(m.place["system"] for m in found))
    shown = [_rule(rule) for rule in rules if found_by[rule]]
    yield drawn(
        f"{entry.subject.id}: ranking",
        f"Strength by pairwise votes on the Elo scale (1000 is the mean), ties by {keys_of(found[0])['ties']}, of "
        f"{_raters(entry)}. {interval_words(found)} Where intervals overlap, the order is not sure.",
        partial(_dot_chart, rows, "system", order, "rule", shown, "Elo", zero=False),
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
    yield drawn(
        f"{entry.subject.id}: agreement per task family",
        "How often a sample's first raters chose the same winner, with Wilson's interval over samples, beside two "
        "coefficients that take chance into account (0 is what chance gives), with jackknife intervals. "
        "A family far below the others needs clearer instructions.",
        partial(_dot_chart, rows, "family", families, "kind", kinds, "agreement, 1 is perfect", most=1.0),
    )


def _metrics(entry: Entry) -> Iterator[Figure]:
    picks = _with_value(predictions(entry.measurements))
    if not picks:
        return
    names = metric_names(picks)
    rows = [_dot(m, name=names[m.place["reading"]], kind="decided") for m in picks]
    order = [row["name"] for row in rows]
    yield drawn(
        f"{entry.subject.id}: metrics against votes",
        "How often each metric's better clip is the one people chose, with their intervals. The dashed line "
        "is a coin; an interval across it says nothing.",
        lambda room: _with_rule(
            _dot_chart(rows, "name", order, "kind", ["decided"], "picks the winner", room, most=1.0), 0.5
        ),
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
    room: Room,
    *,
    zero: bool = True,
    most: float | None = None,
) -> Any:
    """Dots with interval bars, one line per label, kinds side by side within it."""
    altair = load_altair()
    colour = altair.Scale(domain=list(kinds), range=list(KINDS[: len(kinds)]))
    legend = kind_legend(altair) if len(kinds) > 1 else None
    lines = max(len(wrapped(name, room.letters)) for name in order)
    step = max(_ROW, 18 * lines) if len(kinds) == 1 else max(_ROW_OF_KIND, math.ceil(18 * lines / len(kinds)))
    base = altair.Chart(altair.Data(values=list(rows)), width=room.width, height=altair.Step(step))
    y = row_axis(order, room, field=label)
    ends = [row[key] for row in rows for key in ("value", "lower", "upper") if key in row]
    x = partial(number_axis, ends + ([] if most is None else [most]), title, zero=zero, most=room.ticks)
    shift = altair.YOffset(f"{kind}:N", sort=list(kinds))
    tint = altair.Color(f"{kind}:N", scale=colour, legend=legend)
    marks = altair.Shape(
        f"{kind}:N", scale=altair.Scale(domain=list(kinds), range=list(SHAPES[: len(kinds)])), legend=legend
    )
    bars = (
        base.transform_filter("isValid(datum.lower)")
        .mark_rule(strokeWidth=2)
        .encode(y=y, yOffset=shift, x=x(field="lower:Q"), x2="upper:Q", color=tint)
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(y=y, yOffset=shift, x=x(), color=tint, shape=marks)
    return bars + dots


def _with_rule(chart: Any, at: float) -> Any:
    altair = load_altair()
    line = altair.Chart(altair.Data(values=[{"at": at}])).mark_rule(strokeDash=[4, 4], color=GREY)
    return line.encode(x="at:Q") + chart


def _rule(exclusion: str) -> str:
    return "all raters" if exclusion == "none" else f"after excluding {exclusion}"


def _raters(entry: Entry) -> str:
    """ "6 raters", as the study's subject says; "its raters" where it does not."""
    known = entry.subject.facts.get("raters")
    return "its raters" if known is None else f"{known} raters"
