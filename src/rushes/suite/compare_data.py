"""A comparison as plain data and short words: the same for `--json`, the terminal and the pages."""

from __future__ import annotations

from rushes.core import Definition, Measurement
from rushes.suite.compare import Comparison, MetricComparison


def as_data(comparison: Comparison) -> dict[str, object]:
    """The comparison as plain data: every number with its signature, every signature defined once."""
    everything = [m for c in comparison.metrics for m in c.statistics.measurements] + list(comparison.transitions)
    everything += [m for c in comparison.metrics for x in c.largest for m in (x.first, x.second, x.difference)]
    return {
        "run_a": comparison.first.place,
        "run_b": comparison.second.place,
        "paired": list(comparison.paired),
        "only_a": list(comparison.only_first),
        "only_b": list(comparison.only_second),
        "metrics": [_metric_data(m) for m in comparison.metrics],
        "refused": [{"metric": r.name, "a": r.first, "b": r.second, "why": r.why} for r in comparison.refused],
        "unshared": list(comparison.unshared),
        "badge_transitions": [_row(m) for m in comparison.transitions],
        "badge_transitions_refused": comparison.transitions_refused,
        "definitions": {m.signature: m.definition.as_dict() for m in everything},
    }


def _metric_data(comparison: MetricComparison) -> dict[str, object]:
    return {
        "signature": comparison.statistics.metric.signature,
        "measurements": [_row(m) for m in comparison.statistics.measurements],
        "largest": [
            {"subject": c.subject, "a": _row(c.first), "b": _row(c.second), "difference": _row(c.difference)}
            for c in comparison.largest
        ],
    }


def _row(m: Measurement) -> dict[str, object]:
    return {"signature": m.signature, "value": m.stored_value, "count": m.count, "note": m.note}


def reading_name(metric: Definition) -> str:
    """The metric's name, with the setting that tells its readings apart: "blur_score (p10)"."""
    chosen = [value for key, value in metric.params if key in ("statistic", "k", "axis", "value")]
    return metric.name + (f" ({', '.join(chosen)})" if chosen else "")


def verdict(comparison: MetricComparison) -> str:
    """ "better", "worse", "moved" (no direction) where the interval leaves 0 out; else "unclear" or "same"."""
    s = comparison.statistics
    if s.mean.value is None:
        return "no pair"
    if not (s.rose.value or s.fell.value):
        return "same"
    low, high = s.low.value, s.high.value
    if low is None or high is None or low <= 0 <= high:
        return "unclear"
    if s.metric.better == "neither":
        return "moved"
    return "better" if (low > 0) == (s.metric.better == "higher") else "worse"
