"""Instrument 1: what can be measured on one take. MetricBundleV1, and any metric that a package adds."""

from rushes.core.metric import ClipMetric as ClipMetric
from rushes.core.metric import Collector as Collector
from rushes.core.metric import Lane as Lane
from rushes.core.metric import Trace as Trace
from rushes.core.metric import spanning as spanning
from rushes.instruments.clip.bundle import MetricBundle as MetricBundle
from rushes.instruments.clip.bundle import bundle_schema as bundle_schema
from rushes.instruments.clip.bundle import read_bundle as read_bundle
from rushes.instruments.clip.evaluate import evaluate_clip as evaluate_clip
from rushes.instruments.clip.evaluate import evaluate_clips as evaluate_clips
from rushes.instruments.clip.frames.observe import Observation as Observation
from rushes.instruments.clip.measure import ClipResult as ClipResult
from rushes.instruments.clip.metrics import METRICS as METRICS
from rushes.instruments.clip.signals.calibration import Calibration as Calibration
from rushes.instruments.clip.signals.calibration import calibrate as calibrate
from rushes.instruments.clip.signals.profile import Profile as Profile
from rushes.instruments.clip.signals.profile import load_profile as load_profile
