"""Numbers with their signatures and intervals into Weights & Biases, MLflow and TensorBoard."""

from rushes.trackers.send import Logged as Logged
from rushes.trackers.send import log as log
