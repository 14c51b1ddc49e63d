"""A comparison as tables, plain data and short words: the same for the terminal, `--json` and the pages."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core import Measurement
from rushes.core.numbers import signed_text as signed_text
from rushes.core.selection import differing_keys, keys_of, label
from rushes.core.table import Cell, Table, number
from rushes.suite.compare_badges import BADGES
from rushes.suite.compare_results import MetricComparison, RunComparison

QUIET = {
    "same": "The same on every clip",
    "no pair": "No clip has a value in both runs",
    "not comparable": "Not comparable on any clip",
}
"""Verdicts that get one line for all their metrics, not a row each."""
MOVED = (
    "moved: the value changed, which does not tell better from worse, for other things move it that way too; "
    "rushes metrics NAME names them."
)
"""What the word means, under a table that has it."""
SURE = 0.05
"""What a probability is at the most where a change is told."""


def change_table(comparison: RunComparison) -> Table:
    """The clips that changed most, metric by metric."""
    rows = [
        (Cell(name), Cell(c.subject), number(c.first), number(c.second), _signed(c.difference))
        for name, m in named_readings(comparison)
        for c in m.largest
    ]
    return Table(title="Clips that changed most", header=("metric", "clip", "A", "B", "B − A"), rows=rows)


def transition_table(comparison: RunComparison) -> Table:
    """Review signals: a row per badge in the first run, a column per badge in the second; no rows when refused."""
    counts = {(m.place["before"], m.place["after"]): m for m in comparison.transitions}
    rows = [(Cell(before), *(number(counts[before, after]) for after in BADGES)) for before in BADGES if counts]
    return Table(title="Review signals: clips", header=("A ↓  B →", *BADGES), rows=rows)


def quiet_readings(comparison: RunComparison) -> dict[str, list[str]]:
    """The metrics without a row of their own, by verdict."""
    return {word: [name for name, m in named_readings(comparison) if verdict(m) == word] for word in QUIET}


def unlike_lines(comparison: RunComparison) -> list[str]:
    """Which metrics do not compare on some clips, or on any, and what differs; metrics of one reason share a line.

    "On 2 of 8 clips not compared (frame size 640×360 in A, 320×180 in B): blur_score, freeze_frame_ratio"
    """
    reasons: dict[str, list[str]] = {}
    for name, m in named_readings(comparison):
        if m.unlike:
            n, total = len(m.unlike), len(m.unlike) + m.statistics.mean.count
            clips = "On no clip compared" if n == total else f"On {n} of {total} clips not compared"
            reasons.setdefault(f"{clips} ({m.why_unlike})", []).append(name)
    return [f"{reason}: {', '.join(names)}" for reason, names in reasons.items()]


def reading_names(metrics: Sequence[MetricComparison]) -> list[str]:
    """What to call each: the metric's name, with what tells it from its namesakes: "blur_score (p10)"."""
    namesakes: dict[str, list[Measurement]] = {}
    for m in metrics:
        namesakes.setdefault(m.reading.name, []).append(m.reading)
    keys = {name: differing_keys(readings) for name, readings in namesakes.items()}
    return [_with(m.reading.name, _difference(m.reading, keys[m.reading.name])) for m in metrics]


def _difference(reading: Measurement, keys: Sequence[str]) -> str:
    """The value alone where one key tells the readings apart, else "joint left_wrist, k 20"."""
    return keys_of(reading).get(keys[0], "") if len(keys) == 1 else label(reading, keys)


def _with(name: str, difference: str) -> str:
    return f"{name} ({difference})" if difference else name


def named_readings(comparison: RunComparison) -> list[tuple[str, MetricComparison]]:
    return list(zip(reading_names(comparison.metrics), comparison.metrics, strict=True))


def verdict(comparison: MetricComparison) -> str:
    """ "better", "worse" or "moved" where a change is clear (`direction`), as the metric's definition judges it.

    Else "unclear", "same" (no clip changed), "not comparable" (the media differ on every clip) or "no pair".
    """
    s = comparison.statistics
    if s.mean.value is None:
        return "not comparable" if comparison.unlike else "no pair"
    if not (s.rose.value or s.fell.value):
        return "same"
    moved = direction(comparison)
    return s.metric.verdict(rose=moved == "higher") if moved else "unclear"


def direction(comparison: MetricComparison) -> str:
    """ "higher" or "lower" where p is 0.05 or less and the interval of the mean, where there is one, leaves 0 out.

    Else "". Where every clip changed by the same, there is no spread to draw an interval from, and p decides.
    """
    s, interval = comparison.statistics, comparison.statistics.mean.interval
    if not s.mean.value or s.p.value is None or float(s.p.value) > SURE:
        return ""
    if interval is not None and interval.low <= 0 <= interval.high:
        return ""
    return "higher" if float(s.mean.value) > 0 else "lower"


def verdict_text(word: str, moved: str) -> str:
    """A verdict for people.

    >>> verdict_text("moved", "higher"), verdict_text("unclear", ""), verdict_text("better", "higher")
    ('moved higher', 'cannot tell', 'better')
    """
    return f"moved {moved}" if word == "moved" else "cannot tell" if word == "unclear" else word


def _signed(m: Measurement) -> Cell:
    return Cell("–" if m.value is None else signed_text(float(m.value)), m)
