"""Instrument 5: ESI and Justification Drift. Standard library only."""

from rushes.robustness.measurements import as_measurements
from rushes.robustness.metrics import DriftMetric, ESIMetric, MetricComputationError, MetricsResult
from rushes.robustness.metrics_engine import MetricsEngine

__all__ = ["DriftMetric", "ESIMetric", "MetricComputationError", "MetricsEngine", "MetricsResult", "as_measurements"]
