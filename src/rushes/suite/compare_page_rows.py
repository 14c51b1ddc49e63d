"""The table of a comparison's page: metrics that can be better or worse, then those that only move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.core import Definition, Measurement
from rushes.core.numbers import signed_text as signed
from rushes.core.table import ARROWS, Cell, Table, number
from rushes.suite.compare_data import QUIET
from rushes.suite.compare_many import Judged, RunsComparison
from rushes.suite.compare_page_words import own_letter, sentence

GROUPS = (
    ("Can be better or worse", "Nothing else moves these: a clear change is a verdict, on one side at the least."),
    ("Only move", "Other things move these too, so a change is told and is no verdict: look at the clips."),
)
_SMALL = 0.0001
_ORDER = ("worse", "better", "moved", "unclear", "not comparable")
_SILENT = ("same", "no pair")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One metric of one run."""

    run: int
    letter: str
    verdict: str
    text: str
    sentence: str
    mean: Cell
    interval: Cell
    p: Cell
    clips: Cell
    directions: str
    """ "9 rose, 2 fell, 1 same"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric over all runs."""

    name: str
    arrow: str
    definition: Definition
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricGroup:
    title: str
    hint: str
    rows: tuple[MetricRow, ...]


def metric_groups(found: RunsComparison) -> list[MetricGroup]:
    """Every metric with something to tell, what is told first; the quiet ones are lines of their own."""
    split: tuple[list[MetricRow], list[MetricRow]] = ([], [])
    for lines in told_first(found):
        row = _row(lines)
        split[0 if row.definition.judges else 1].append(row)
    return [
        MetricGroup(title=title, hint=hint, rows=tuple(part))
        for (title, hint), part in zip(GROUPS, split, strict=True)
        if part
    ]


def told_first(found: RunsComparison) -> list[list[Judged]]:
    """By metric, its comparisons with something to tell: worse first, then better, moved and unclear ones.

    A metric that no run compares on, or that changed in none, has no place here.
    """
    keys = dict.fromkeys(one.key for one in found.judged if one.verdict not in QUIET)
    rows = [[one for one in found.judged if one.key == key and one.verdict not in _SILENT] for key in keys]
    return sorted(rows, key=lambda lines: min(_ORDER.index(one.verdict) for one in lines))


def _row(lines: Sequence[Judged]) -> MetricRow:
    definition = lines[0].metric.statistics.metric
    arrow = ARROWS[definition.better] if definition.judges else ""
    return MetricRow(name=lines[0].name, arrow=arrow, definition=definition, lines=tuple(map(_line, lines)))


def _line(one: Judged) -> Line:
    s = one.metric.statistics
    return Line(
        run=one.run,
        letter=one.letter,
        verdict=one.verdict,
        text=one.text,
        sentence=sentence(one),
        mean=signed_cell(s.mean),
        interval=interval_cell(s.mean),
        p=p_cell(one.holm),
        clips=Cell(str(s.mean.count), s.mean) if s.mean.value is not None else Cell("0"),
        directions=", ".join(f"{m.value} {word}" for m, word in _counts(one) if m.value is not None),
    )


def _counts(one: Judged) -> tuple[tuple[Measurement, str], ...]:
    s = one.metric.statistics
    return (s.rose, "rose"), (s.fell, "fell"), (s.same, "same")


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
    rows: list[tuple[Cell, ...]] = []
    for place, comparison in enumerate(found.comparisons, 1):
        mark = found.letters[place]
        rows += [(Cell("metric"), Cell(r.name), Cell(mark), Cell(r.why)) for r in comparison.refused]
        rows += [
            (Cell("metric"), Cell(name), Cell(mark), Cell("in one of the two runs only"))
            for name in comparison.unshared
        ]
        rows += [(Cell("clip"), Cell(name), Cell(mark), Cell("in A only")) for name in comparison.only_first]
        rows += [(Cell("clip"), Cell(name), Cell(mark), Cell(f"in {mark} only")) for name in comparison.only_second]
        rows += [
            (Cell("clip"), Cell(name), Cell(mark), Cell("the same id, but two different clips by their paths"))
            for name in comparison.doubtful
        ]
        reasons: dict[str, list[str]] = {}
        for one in (one for one in found.judged if one.run == place and one.metric.unlike):
            n, total = len(one.metric.unlike), len(one.metric.unlike) + one.metric.statistics.mean.count
            why = f"not comparable on {n} of {total} clips: {own_letter(one.metric.why_unlike, mark)}"
            reasons.setdefault(why, []).append(one.name)
        rows += [(Cell("metric"), Cell(", ".join(names)), Cell(mark), Cell(why)) for why, names in reasons.items()]
    return Table(title="What was not compared", header=("what", "name", "run", "why"), rows=rows)
