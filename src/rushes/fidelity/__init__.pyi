"""Instrument 6: how far a clip is from its reference. Every constant of every formula is in the signature."""

from rushes.fidelity.arrays import compare_arrays as compare_arrays
from rushes.fidelity.evaluate import FidelityEvaluation as FidelityEvaluation
from rushes.fidelity.evaluate import evaluate_fidelity as evaluate_fidelity
from rushes.fidelity.metric import Observer as Observer
from rushes.fidelity.metric import PairContext as PairContext
from rushes.fidelity.metric import PairMetric as PairMetric
from rushes.fidelity.metric import Seen as Seen
from rushes.fidelity.metrics import METRICS as METRICS
from rushes.fidelity.picture import FramePair as FramePair
from rushes.fidelity.picture import Picture as Picture
from rushes.fidelity.protocols import PROTOCOLS as PROTOCOLS
from rushes.fidelity.protocols import Protocol as Protocol
