"""A comparison as tables, plain data and short words: the same for the terminal, `--json` and the pages."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core import Measurement
from rushes.core.selection import differing_keys, keys_of, label
from rushes.core.table import ARROWS, Cell, Table, number
from rushes.suite.compare_badges import BADGES
from rushes.suite.compare_results import MetricComparison, RunComparison
from rushes.suite.set_distances import DistanceChange

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


def difference_table(comparison: RunComparison) -> Table:
    """A row per metric that moved; `quiet_readings` has the others."""
    return Table(
        title="Mean differences, with 95 % intervals (Student's t; exact for true/false) and the exact sign test",
        header=("metric", "better", "mean", "95 % interval", "rose", "fell", "same", "sign p", "verdict"),
        rows=[_metric_row(name, m) for name, m in _named(comparison) if verdict(m) not in QUIET],
    )


def change_table(comparison: RunComparison) -> Table:
    """The clips that changed most, metric by metric."""
    rows = [
        (Cell(name), Cell(c.subject), number(c.first), number(c.second), _signed(c.difference))
        for name, m in _named(comparison)
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
    return {word: [name for name, m in _named(comparison) if verdict(m) == word] for word in QUIET}


def unlike_lines(comparison: RunComparison) -> list[str]:
    """Which metrics do not compare on some clips, or on any, and what differs; metrics of one reason share a line.

    "On 2 of 8 clips not compared (frame size 640×360 in A, 320×180 in B): blur_score, freeze_frame_ratio"
    """
    reasons: dict[str, list[str]] = {}
    for name, m in _named(comparison):
        if m.unlike:
            n, total = len(m.unlike), len(m.unlike) + m.statistics.mean.count
            clips = "On no clip compared" if n == total else f"On {n} of {total} clips not compared"
            reasons.setdefault(f"{clips} ({m.why_unlike})", []).append(name)
    return [f"{reason}: {', '.join(names)}" for reason, names in reasons.items()]


def as_data(comparison: RunComparison) -> dict[str, object]:
    """The comparison as plain data: every number with its signature, every signature defined once."""
    everything = [m for c in comparison.metrics for m in c.statistics.measurements] + list(comparison.transitions)
    everything += [m for c in comparison.metrics for x in c.largest for m in (x.first, x.second, x.difference)]
    if comparison.distances:
        everything = [m for c in comparison.distances for m in (c.first, c.second, c.difference) if m is not None]
    data: dict[str, object] = {
        "run_a": comparison.first.place,
        "run_b": comparison.second.place,
        "paired": list(comparison.paired),
        "only_a": list(comparison.only_first),
        "only_b": list(comparison.only_second),
        "doubtful": list(comparison.doubtful),
        "metrics": [] if comparison.distances else [_metric_data(name, m) for name, m in _named(comparison)],
        "refused": [{"metric": r.name, "a": r.first, "b": r.second, "why": r.why} for r in comparison.refused],
        "unshared": list(comparison.unshared),
        "badge_transitions": [m.as_dict() for m in comparison.transitions],
        "badge_transitions_refused": comparison.transitions_refused,
        "definitions": {m.signature: m.definition.as_dict() for m in everything},
    }
    return data | ({"distances": [_distance_data(c) for c in comparison.distances]} if comparison.distances else {})


def _distance_data(change: DistanceChange) -> dict[str, object]:
    moved = change.difference
    return {
        "a": change.first.as_dict(),
        "b": change.second.as_dict(),
        "difference": None if moved is None else moved.as_dict(),
        "intervals": change.intervals,
        "why_not": change.why,
    }


def _metric_data(name: str, comparison: MetricComparison) -> dict[str, object]:
    return {
        "reading": name,
        "signature": comparison.reading.signature,
        "at": comparison.reading.place,
        "verdict": verdict(comparison),
        "moved": direction(comparison),
        "not_comparable": [{"subject": clip.subject, "why": clip.why} for clip in comparison.unlike],
        "measurements": [m.as_dict() for m in comparison.statistics.measurements],
        "largest": [
            {
                "subject": c.subject,
                "a": c.first.as_dict(),
                "b": c.second.as_dict(),
                "difference": c.difference.as_dict(),
            }
            for c in comparison.largest
        ],
    }


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


def _named(comparison: RunComparison) -> list[tuple[str, MetricComparison]]:
    return list(zip(reading_names(comparison.metrics), comparison.metrics, strict=True))


def verdict(comparison: MetricComparison) -> str:
    """ "better", "worse" or "moved" where the interval leaves 0 out, as the metric's definition judges a change.

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
    """ "higher" or "lower" where the interval of the mean leaves 0 out; else "".

    Where every clip changed by the same, there is no spread to draw an interval from: the sign test then decides.
    """
    s = comparison.statistics
    if s.mean.interval is None:
        sure = s.mean.value and s.sign_test.count == s.mean.count and float(s.sign_test.value or 1) <= SURE
        return ("higher" if float(s.mean.value or 0) > 0 else "lower") if sure else ""
    if s.mean.interval.low <= 0 <= s.mean.interval.high:
        return ""
    return "higher" if s.mean.interval.low > 0 else "lower"


def verdict_text(comparison: MetricComparison) -> str:
    """The verdict for people: "better", "moved higher"."""
    word = verdict(comparison)
    return f"{word} {direction(comparison)}" if word == "moved" else word


def _metric_row(name: str, comparison: MetricComparison) -> tuple[Cell, ...]:
    s = comparison.statistics
    interval = s.mean.interval
    return (
        Cell(name),
        Cell(ARROWS[s.mean.definition.better] or "·"),
        _signed(s.mean),
        Cell("–" if interval is None else f"{signed_text(interval.low)} to {signed_text(interval.high)}"),
        *(number(m) for m in (s.rose, s.fell, s.same, s.sign_test)),
        Cell(verdict_text(comparison)),
    )


def _signed(m: Measurement) -> Cell:
    return Cell("–" if m.value is None else signed_text(float(m.value)), m)


def signed_text(value: float) -> str:
    """A difference for people, with its sign; exactly none is "0".

    >>> [signed_text(value) for value in (0.25, -1234.5, 0.0, 1e-9)]
    ['+0.2500', '-1234.50', '0', '+0.0000']
    """
    return "0" if value == 0 else f"{value:+.2f}" if abs(value) >= 1000 else f"{value:+.4f}"
