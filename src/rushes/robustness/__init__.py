"""Instrument 5: ESI and Justification Drift. The seed's own modules need the standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "CommandJudge": "rushes.robustness.sweep.judges",
    "DriftMetric": "rushes.robustness.metrics",
    "ESIMetric": "rushes.robustness.metrics",
    "EndpointJudge": "rushes.robustness.sweep.endpoint",
    "JUDGES": "rushes.robustness.sweep.judges",
    "MetricComputationError": "rushes.robustness.metrics",
    "MetricsEngine": "rushes.robustness.metrics_engine",
    "MetricsResult": "rushes.robustness.metrics",
    "SweepOutcome": "rushes.robustness.sweep.evaluate",
    "SweepReport": "rushes.robustness.measure",
    "WorstRun": "rushes.robustness.worst",
    "as_measurements": "rushes.robustness.measurements",
    "measure_robustness": "rushes.robustness.evaluate",
    "sweep_clips": "rushes.robustness.sweep.evaluate",
}

__all__ = [
    "JUDGES",
    "CommandJudge",
    "DriftMetric",
    "ESIMetric",
    "EndpointJudge",
    "MetricComputationError",
    "MetricsEngine",
    "MetricsResult",
    "SweepOutcome",
    "SweepReport",
    "WorstRun",
    "as_measurements",
    "measure_robustness",
    "sweep_clips",
]

if TYPE_CHECKING:
    from rushes.robustness.evaluate import measure_robustness
    from rushes.robustness.measure import SweepReport
    from rushes.robustness.measurements import as_measurements
    from rushes.robustness.metrics import DriftMetric, ESIMetric, MetricComputationError, MetricsResult
    from rushes.robustness.metrics_engine import MetricsEngine
    from rushes.robustness.sweep.endpoint import EndpointJudge
    from rushes.robustness.sweep.evaluate import SweepOutcome, sweep_clips
    from rushes.robustness.sweep.judges import JUDGES, CommandJudge
    from rushes.robustness.worst import WorstRun

__getattr__ = lazy_names(__name__, _HOMES)
