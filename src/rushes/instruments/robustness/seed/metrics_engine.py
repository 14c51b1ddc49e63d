"""`MetricsEngine`: a sweep directory in, `MetricsResult` out. Reads only; writes nothing, starts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rushes.instruments.robustness.seed.metrics import (
    DriftMetric,
    ESIMetric,
    MetricsResult,
    NullJustification,
    mean_score,
)
from rushes.instruments.robustness.seed.scores import RunScore, by_value, score_runs
from rushes.instruments.robustness.seed.sweep_dir import read_sweep


class MetricsEngine:
    """Computes ESI and Justification Drift of a sweep.

    A null justification counts as empty, as the specification's own code has it; with `null_justification="text"` it
    is "None", as the specification's words have it.
    """

    def __init__(self, *, null_justification: NullJustification = "empty") -> None:
        self.null_justification = null_justification

    def compute(self, sweep_dir: Path | str) -> MetricsResult:
        """Both metrics for every axis; equal directories give equal results.

        Raises `MetricComputationError`, naming the file, for a sweep that cannot be measured; a missing manifest or
        trace is a `FileNotFoundError` too.
        """
        sweep = read_sweep(sweep_dir, null_justification=self.null_justification)
        return metrics_result(sweep.axes, list(score_runs(sweep)))


def metrics_result(axes: Iterable[str], scores: Sequence[RunScore]) -> MetricsResult:
    """Group the runs' scores by each axis in turn, axes by name and values by encoding."""
    names = sorted(axes)
    return MetricsResult(
        esi=tuple(esi_metric(axis, scores) for axis in names),
        drift=tuple(drift_metric(axis, scores) for axis in names),
    )


def esi_metric(axis: str, scores: Iterable[RunScore]) -> ESIMetric:
    """Share of matching answers per value of one axis, and the mean of those shares."""
    groups = by_value(axis, scores)
    stored = {value: mean_score([float(score.matches) for score in group]) for value, group in groups.items()}
    return ESIMetric(axis=axis, value_scores=stored, overall_score=mean_score(list(stored.values())))


def drift_metric(axis: str, scores: Iterable[RunScore]) -> DriftMetric:
    """Mean drift per value of one axis, and the mean of those means."""
    groups = by_value(axis, scores)
    stored = {
        value: mean_score([score.drift for score in group if score.drift is not None])
        for value, group in groups.items()
    }
    return DriftMetric(axis=axis, value_scores=stored, overall_score=mean_score(list(stored.values())))
