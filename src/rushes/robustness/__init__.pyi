"""Instrument 5: ESI and Justification Drift. The seed's own modules need the standard library only."""

from rushes.robustness.evaluate import measure_robustness as measure_robustness
from rushes.robustness.measure import SweepReport as SweepReport
from rushes.robustness.measurements import as_measurements as as_measurements
from rushes.robustness.metrics import DriftMetric as DriftMetric
from rushes.robustness.metrics import ESIMetric as ESIMetric
from rushes.robustness.metrics import MetricComputationError as MetricComputationError
from rushes.robustness.metrics import MetricsResult as MetricsResult
from rushes.robustness.metrics_engine import MetricsEngine as MetricsEngine
from rushes.robustness.statistics.comparison import JudgeComparison as JudgeComparison
from rushes.robustness.statistics.comparison import compare_judges as compare_judges
from rushes.robustness.statistics.pooling import PooledReport as PooledReport
from rushes.robustness.statistics.pooling import pool_sweeps as pool_sweeps
from rushes.robustness.sweep.endpoint import EndpointJudge as EndpointJudge
from rushes.robustness.sweep.evaluate import SweepOutcome as SweepOutcome
from rushes.robustness.sweep.evaluate import sweep_clips as sweep_clips
from rushes.robustness.sweep.judges import JUDGES as JUDGES
from rushes.robustness.sweep.judges import CommandJudge as CommandJudge
from rushes.robustness.worst import WorstRun as WorstRun
