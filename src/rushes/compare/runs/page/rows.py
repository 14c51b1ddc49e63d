"""The table of a comparison's page: metrics that can be better or worse, then those that only change.

The forest plot shows the same on one scale: every mean difference with its interval, in units of the metric's spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rushes.compare.agreement.credential import shipped_credentials
from rushes.compare.agreement.known import agreement_text, known_agreement
from rushes.compare.comparison import Outcome, WhyNot
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.page.words import change_size, sentence
from rushes.compare.runs.results import MetricComparison
from rushes.core import Measurement
from rushes.core.grouping import grouped
from rushes.core.table import ARROWS, Cell, Table, number, word_table
from rushes.core.words.number_text import signed_text as signed
from rushes.present.charts.dot_chart import dot, dot_chart
from rushes.present.charts.figure import Figure
from rushes.present.charts.style import BAD, BLUE, GOOD, GREY, NARROW, WIDE, Room, drawn, load_altair

GROUPS = (
    (
        "Can be better or worse",
        "Only quality changes these, at least one way: a significant change is a verdict.",
    ),
    ("No better direction", "Other things than quality change these too, so a change is neither: look at the clips."),
)
_SMALL = 0.0001
_ORDER = (Outcome.WORSE, Outcome.BETTER, Outcome.MOVED, Outcome.CANNOT_TELL, Outcome.NOT_COMPARABLE)


def metric_groups(found: RunsComparison) -> list[dict[str, Any]]:
    """Every metric with something to tell, what is told first; the quiet ones are lines of their own."""
    rows = told_first(found)
    groups = [
        (head, [lines for lines in rows if judges(lines[0]) == first])
        for head, first in zip(GROUPS, (True, False), strict=True)
    ]
    return [{"title": title, "hint": hint, "rows": list(map(_row, part))} for (title, hint), part in groups if part]


def judges(one: MetricComparison) -> bool:
    """Whether a change of the metric can be a verdict."""
    return one.reading.definition.judges


def told_first(found: RunsComparison) -> list[list[MetricComparison]]:
    """By metric, its comparisons with something to tell: worse first, then better, changed and unclear ones.

    Of equals the most changed comes first.

    A metric that no run compares on, or that changed in none, has no place here.
    """
    keys = dict.fromkeys(one.key for one in found.judged if not one.quiet)
    silent = {id(one) for one in found.judged if one.outcome is Outcome.SAME or one.why is WhyNot.NOTHING_SHARED}
    rows = [[one for one in found.judged if one.key == key and id(one) not in silent] for key in keys]
    return sorted(rows, key=lambda lines: min((_ORDER.index(one.outcome), change_size(one)) for one in lines))


def told(found: RunsComparison) -> list[MetricComparison]:
    """The comparisons that have a row each, in this order."""
    return [one for lines in told_first(found) for one in lines if not one.quiet]


def _row(lines: Sequence[MetricComparison]) -> dict[str, Any]:
    """One metric over all runs."""
    definition = lines[0].reading.definition
    arrow = ARROWS[definition.better] if definition.judges else ""
    people = agreement_text(known_agreement(definition, shipped_credentials(), at=lines[0].reading.at), kinds=True)
    return {
        "name": lines[0].name,
        "arrow": arrow,
        "definition": definition,
        "people": people,
        "lines": list(map(_line, lines)),
    }


def _line(one: MetricComparison) -> dict[str, Any]:
    """One metric of one run; its directions are "9 rose, 2 fell, 1 same"."""
    s = one.statistics
    counts = (("rose", s.rose), ("fell", s.fell), ("same", s.same))
    return {
        "run": one.run,
        "letter": one.second,
        "verdict": one.verdict,
        "text": one.text,
        "sentence": sentence(one),
        "mean": signed_cell(s.mean),
        "interval": interval_cell(s.mean),
        "p": p_cell(one.adjusted_p),
        "clips": Cell(str(s.mean.count), s.mean) if s.mean.value is not None else Cell("0"),
        "directions": ", ".join(f"{m.value} {word}" for word, m in counts if m.value is not None),
    }


def signed_cell(m: Measurement) -> Cell:
    """A difference, with its sign; a dash where there is none."""
    return Cell("–") if m.value is None else Cell(signed(float(m.value)), m)


def interval_cell(m: Measurement) -> Cell:
    """A difference's interval, both ends with a sign; a dash where there is none."""
    if m.interval is None:
        return Cell("–")
    return Cell(f"{signed(m.interval.low)} to {signed(m.interval.high)}", m)


def p_cell(m: Measurement) -> Cell:
    """A probability; one that the digits would make 0 is "< 0.0001"."""
    if m.value is None or float(m.value) >= _SMALL:
        return Cell("–") if m.value is None else number(m)
    return Cell(f"< {_SMALL}", m)


def not_compared(found: RunsComparison) -> Table:
    """Everything that is left out, with the run and the reason; no rows where nothing is."""
    rows: list[tuple[str, str, str, str]] = []
    for place, comparison in enumerate(found.comparisons, 1):
        mark = found.letters[place]
        rows += [("metric", refusal.name, mark, refusal.why) for refusal in comparison.refused]
        for what, names, why in (
            ("metric", comparison.unshared, "in one of the two runs only"),
            ("clip", comparison.only_first, "in A only"),
            ("clip", comparison.only_second, f"in {mark} only"),
            ("clip", comparison.doubtful, "the same id, but two different clips by their paths"),
        ):
            rows += [(what, name, mark, why) for name in names]
        apart = [one for one in found.judged if one.run == place and one.unlike]
        reasons = grouped((f"not comparable on {one.unlike_clips}: {one.why_unlike}", one.name) for one in apart)
        rows += [("metric", ", ".join(names), mark, why) for why, names in reasons.items()]
    return word_table("What was not compared", ("what", "name", "run", "why"), rows)


# Shapes differ, for those who see no colours.
_LOOKS = {
    "better": (GOOD, "triangle-up"),
    "worse": (BAD, "triangle-down"),
    "moved": (BLUE, "diamond"),
    "cannot tell": (GREY, "circle"),
}
_FRAME = (-2.15, 2.15)
"""A mean difference is never more than two of these spreads; intervals that reach further are cut here."""
_ROOMS = {WIDE: replace(WIDE, width=470, letters=40), NARROW: replace(NARROW, width=118, letters=15)}
"""The words at the ends of the rows take room as well."""
_WORDS = {
    WIDE: ["lower than A    ←    standard deviations    →    higher than A"],
    NARROW: ["standard deviations:", "← lower than A,", "higher than A →"],
}
TITLE = "Mean differences on one scale"
CAPTION = (
    "Each point is a mean paired difference from A with its 95 % interval, divided by the standard deviation of the "
    "metric over all clips of both runs, so that metrics of any unit share one axis. An interval that leaves 0 out "
    "is not always significant: with many comparisons at once, Holm's rule asks for more. Intervals are cut at the "
    "frame."
)


def forest(found: RunsComparison) -> Figure | None:
    """The chart; None where nothing changed. Raises `MissingDependency` without the extra."""
    rows = [one for one in told(found) if one.spread.value is not None]
    return drawn(TITLE, CAPTION, partial(_chart, rows, found)) if rows else None


def _chart(rows: Sequence[MetricComparison], found: RunsComparison, room: Room) -> Any:
    """What can be a verdict above what cannot, each group with its head; the last has the scale below it."""
    altair = load_altair()
    groups = [(head, [one for one in rows if judges(one) == (head == GROUPS[0][0])]) for head, _ in GROUPS]
    shown = [(head, part) for head, part in groups if part]
    labels = [_label(one, found) for one in rows]
    charts = []
    for place, (head, part) in enumerate(shown, 1):
        dots = [dot(one.spread, _label(one, found), kind=one.verdict, text=one.text) for one in part]
        title = _WORDS[room] if place == len(shown) else None
        chart = dot_chart(dots, title, _ROOMS[room], looks=_LOOKS, rule=0.0, frame=_FRAME, aligned=labels, at_end=True)
        charts.append(chart.properties(title=altair.TitleParams(head, frame="bounds")))
    return altair.vconcat(*charts, spacing=22).resolve_scale(x="shared")


def _label(one: MetricComparison, found: RunsComparison) -> str:
    return f"{one.name}   {one.second}" if len(found.runs) > 2 else one.name
