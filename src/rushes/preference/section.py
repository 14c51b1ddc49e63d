"""Preference: the ranking with intervals, and how far raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rushes.core import Measurement
from rushes.core.table import Cell, Table, number
from rushes.preference.instrument import INSTRUMENT
from rushes.report.numbers import numbers_section
from rushes.report.section import ReportOptions, Section
from rushes.runs import Entry, Run

_RULE = "exclusion"


def section(run: Run, anchor: str, options: ReportOptions) -> Section:
    """What a report says about one run of this instrument."""
    return numbers_section(run, anchor, instrument=INSTRUMENT, summary=summary(run), facts=facts(run), grids=grids(run))


def grids(run: Run) -> tuple[Table, ...]:
    """Per study: the ranking, then agreement by task family."""
    return tuple(grid for entry in run.entries for grid in (_ranking(entry), _agreement(entry)) if grid.rows)


def summary(run: Run) -> str:
    return " ".join(_sentence(entry) for entry in run.entries)


def facts(run: Run) -> list[tuple[str, str]]:
    lines = []
    for entry in run.entries:
        known: Any = entry.subject.facts
        who = "simulated raters" if known.get("simulated_raters") else "raters"
        lines.append(("Study", f"{known.get('title') or entry.subject.id}, rubric {known.get('rubric')}"))
        lines.append(("Votes", f"{known.get('votes')} by {known.get('raters')} {who} on {known.get('samples')} pairs"))
        lines.append(("Exclusion rule", str(known.get("exclusion_rule"))))
    return lines


def _pick(entry: Entry, name: str, **wanted: str) -> list[tuple[dict[str, str], Measurement]]:
    """Measurements of this name whose parameters have these values; a parameter that is absent counts as equal."""
    pairs = [(dict(m.definition.params), m) for m in entry.measurements if m.definition.name == name]
    return [(params, m) for params, m in pairs if all(params.get(key, value) == value for key, value in wanted.items())]


def _triples(
    entry: Entry, name: str, keys: Sequence[str], **wanted: str
) -> dict[tuple[str, ...], dict[str, Measurement]]:
    """By these parameters: estimate, lower and upper bound."""
    table: dict[tuple[str, ...], dict[str, Measurement]] = {}
    for params, m in _pick(entry, name, **wanted):
        place = tuple(params.get(key, "") for key in keys)
        table.setdefault(place, {})[params.get("bound", "estimate")] = m
    return table


def _ranking(entry: Entry) -> Table:
    strengths = _triples(entry, "bt_elo", ("system", _RULE))
    ranks = _triples(entry, "bt_rank", ("system", _RULE))
    shares = _triples(entry, "win_share", ("system", _RULE), family="all")
    places = sorted(
        strengths or shares, key=lambda place: (place[1] != "none", -_estimate(strengths.get(place)), place)
    )
    rows = [
        (
            Cell(place[0]),
            Cell(place[1]),
            *(number(strengths.get(place, {}).get(bound)) for bound in ("estimate", "lower", "upper")),
            *(number(ranks.get(place, {}).get(bound)) for bound in ("lower", "upper")),
            number(shares.get(place, {}).get("estimate")),
        )
        for place in places
    ]
    return Table(
        title=f"{entry.subject.id}: ranking",
        header=("system", "raters left out", "Elo ↑", f"{_confidence(entry)} from", "to", "rank from", "to", "wins ↑"),
        rows=rows,
        caption="Where intervals overlap, the order is open. People decide preference; metrics do not.",
    )


def _agreement(entry: Entry) -> Table:
    shares = _triples(entry, "percent_agreement", ("family",), exclusion="none")
    alphas = {p.get("family", ""): m for p, m in _pick(entry, "krippendorff_alpha", exclusion="none", level="nominal")}
    firsts = {p.get("family", ""): m for p, m in _pick(entry, "gwet_ac1", exclusion="none")}
    rows = [
        (
            Cell(family),
            *(number(row.get(bound)) for bound in ("estimate", "lower", "upper")),
            number(alphas.get(family)),
            number(firsts.get(family)),
        )
        for (family,), row in shares.items()
    ]
    header = ("task family", "agreement ↑", f"{_confidence(entry)} from", "to", "Krippendorff α ↑", "Gwet AC1 ↑")
    return Table(title=f"{entry.subject.id}: agreement between raters", header=header, rows=rows)


def _confidence(entry: Entry) -> str:
    """How sure the intervals are, as their signatures say: "95 %"."""
    found = {dict(m.definition.params).get("confidence") for m in entry.measurements} - {None}
    return f"{float(found.pop() or 0):.0%}".replace("%", " %") if len(found) == 1 else "interval"


def _estimate(row: dict[str, Measurement] | None) -> float:
    value = row["estimate"].value if row and "estimate" in row else None
    return 0.0 if value is None else float(value)


def _sentence(entry: Entry) -> str:
    strengths = _triples(entry, "bt_elo", ("system",), exclusion="none")
    order = sorted(strengths, key=lambda place: (-_estimate(strengths[place]), place))
    if not order:
        return f"{entry.subject.id}: no ranking; too few votes, or no system that both wins and loses."
    who = "Simulated raters" if entry.subject.facts.get("simulated_raters") else "Raters"
    line = f"{who} put {', then '.join(place[0] for place in order)}."
    return line if len(order) < 2 else line + _overlap(strengths[order[0]], strengths[order[1]])


def _overlap(first: dict[str, Measurement], second: dict[str, Measurement]) -> str:
    low, high = first.get("lower"), second.get("upper")
    if low is None or high is None or low.value is None or high.value is None:
        return ""
    apart = float(low.value) > float(high.value)
    return (
        " The first two intervals do not overlap." if apart else " The first two intervals overlap: the order is open."
    )
