"""Instrument 6: how far a clip is from its reference. Every constant of every formula is in the signature."""

from rushes.instruments.fidelity.arrays import compare_arrays as compare_arrays
from rushes.instruments.fidelity.evaluate import FidelityEvaluation as FidelityEvaluation
from rushes.instruments.fidelity.evaluate import evaluate_fidelity as evaluate_fidelity
from rushes.instruments.fidelity.metric import Observer as Observer
from rushes.instruments.fidelity.metric import PairContext as PairContext
from rushes.instruments.fidelity.metric import PairMetric as PairMetric
from rushes.instruments.fidelity.metric import Seen as Seen
from rushes.instruments.fidelity.metrics import METRICS as METRICS
from rushes.instruments.fidelity.pairs.picture import FramePair as FramePair
from rushes.instruments.fidelity.pairs.picture import Picture as Picture
from rushes.instruments.fidelity.protocols import PROTOCOLS as PROTOCOLS
from rushes.instruments.fidelity.protocols import Protocol as Protocol
