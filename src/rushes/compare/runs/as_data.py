"""A comparison as plain data: what `rushes compare --json` prints and the workbench's JSON view answers."""

from __future__ import annotations

from typing import Any

from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.results import MetricComparison, RunComparison
from rushes.compare.runs.set_distances import DistanceChange
from rushes.compare.runs.signals import SignalChange


def comparison_data(found: RunsComparison) -> dict[str, Any]:
    """Two runs metric by metric; of several, each against the first. Every verdict is after Holm's rule."""
    judged: dict[str, Any] = as_many_data(found)
    if len(found.runs) > 2:
        return judged | {"comparisons": [as_data(one) for one in found.comparisons]}
    alone: dict[str, Any] = as_data(found.comparisons[0])
    return judged | alone | {"definitions": alone["definitions"] | judged["definitions"]}


def as_many_data(found: RunsComparison) -> dict[str, object]:
    """What is said of every metric after Holm's rule, as plain data, with the definitions behind it."""
    numbers = [m for one in found.judged for m in (one.spread, one.p, one.adjusted_p)]
    return {
        "runs": [run.place for run in found.runs],
        "tests": found.family,
        "judged": [
            {"run": one.second}
            | _said(one)
            | {"spread": one.spread.as_dict(), "p": one.p.as_dict(), "holm": one.adjusted_p.as_dict()}
            for one in found.judged
        ],
        "definitions": {m.signature: m.definition.as_dict() for m in numbers},
    }


def as_data(comparison: RunComparison) -> dict[str, object]:
    """The comparison as plain data: every number with its signature, every signature defined once."""
    compared = (*comparison.metrics, *comparison.facts)
    everything = [m for c in compared for m in c.statistics.measurements] + list(comparison.transitions)
    everything += [m for c in compared for x in c.largest for m in (x.first, x.second, x.difference)]
    everything += [comparison.signals.p] if comparison.signals else []
    if comparison.distances:
        everything = [m for c in comparison.distances for m in (c.first, c.second, c.difference) if m is not None]
    data: dict[str, object] = {
        "run_a": comparison.first.place,
        "run_b": comparison.second.place,
        "paired": list(comparison.paired),
        "only_a": list(comparison.only_first),
        "only_b": list(comparison.only_second),
        "doubtful": list(comparison.doubtful),
        "metrics": [] if comparison.distances else [_metric_data(m) for m in comparison.metrics],
        "facts": [_metric_data(m) for m in comparison.facts],
        "signals": None if comparison.signals is None else _signal_data(comparison.signals),
        "refused": [{"metric": r.name, "a": r.first, "b": r.second, "why": r.why} for r in comparison.refused],
        "unshared": list(comparison.unshared),
        "badge_transitions": [m.as_dict() for m in comparison.transitions],
        "badge_transitions_refused": comparison.transitions_refused,
        "definitions": {m.signature: m.definition.as_dict() for m in everything},
    }
    return data | ({"distances": [_distance_data(c) for c in comparison.distances]} if comparison.distances else {})


def _signal_data(signals: SignalChange) -> dict[str, object]:
    counts = {"signal": signals.word, "a": signals.first, "b": signals.second, "clips": signals.clips}
    return counts | {"reason": signals.kind, "p": signals.p.as_dict(), "tests": signals.tests}


def _distance_data(change: DistanceChange) -> dict[str, object]:
    moved = change.difference
    return {
        "a": change.first.as_dict(),
        "b": change.second.as_dict(),
        "difference": None if moved is None else moved.as_dict(),
        "intervals": change.intervals,
        "why_not": change.why,
    }


def _said(one: MetricComparison) -> dict[str, object]:
    return {
        "reading": one.name,
        "signature": one.reading.signature,
        "at": one.reading.place,
        "verdict": one.verdict,
        "moved": one.direction if one.outcome.is_change else "",
    }


def _metric_data(comparison: MetricComparison) -> dict[str, object]:
    return _said(comparison) | {
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
