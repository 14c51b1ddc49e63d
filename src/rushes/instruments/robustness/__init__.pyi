"""Instrument 5: ESI and Justification Drift. The seed's own modules need the standard library only."""

from rushes.instruments.robustness.evaluate import Robustness as Robustness
from rushes.instruments.robustness.evaluate import measure_robustness as measure_robustness
from rushes.instruments.robustness.measure import SweepReport as SweepReport
from rushes.instruments.robustness.measurements import as_measurements as as_measurements
from rushes.instruments.robustness.pooling import JudgeComparison as JudgeComparison
from rushes.instruments.robustness.pooling import PooledReport as PooledReport
from rushes.instruments.robustness.pooling import compare_judges as compare_judges
from rushes.instruments.robustness.pooling import pool_sweeps as pool_sweeps
from rushes.instruments.robustness.seed.metrics import DriftMetric as DriftMetric
from rushes.instruments.robustness.seed.metrics import ESIMetric as ESIMetric
from rushes.instruments.robustness.seed.metrics import MetricComputationError as MetricComputationError
from rushes.instruments.robustness.seed.metrics import MetricsResult as MetricsResult
from rushes.instruments.robustness.seed.metrics_engine import MetricsEngine as MetricsEngine
from rushes.instruments.robustness.show.remarks import WorstRun as WorstRun
from rushes.instruments.robustness.sweep.endpoint import EndpointJudge as EndpointJudge
from rushes.instruments.robustness.sweep.evaluate import SweepOutcome as SweepOutcome
from rushes.instruments.robustness.sweep.evaluate import sweep_clips as sweep_clips
from rushes.instruments.robustness.sweep.judges import JUDGES as JUDGES
from rushes.instruments.robustness.sweep.judges import CommandJudge as CommandJudge
