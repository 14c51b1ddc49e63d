"""Instrument 5: ESI and Justification Drift. Standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushes.core.lazy import lazy_names

_HOMES = {
    "DriftMetric": "rushes.robustness.metrics",
    "ESIMetric": "rushes.robustness.metrics",
    "MetricComputationError": "rushes.robustness.metrics",
    "MetricsEngine": "rushes.robustness.metrics_engine",
    "MetricsResult": "rushes.robustness.metrics",
    "as_measurements": "rushes.robustness.measurements",
}

__all__ = ["DriftMetric", "ESIMetric", "MetricComputationError", "MetricsEngine", "MetricsResult", "as_measurements"]

if TYPE_CHECKING:
    from rushes.robustness.measurements import as_measurements
    from rushes.robustness.metrics import DriftMetric, ESIMetric, MetricComputationError, MetricsResult
    from rushes.robustness.metrics_engine import MetricsEngine
else:
    __getattr__ = lazy_names(__name__, _HOMES)
