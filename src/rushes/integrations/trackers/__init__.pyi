"""Numbers with their signatures and intervals into Weights & Biases, MLflow and TensorBoard."""

from rushes.integrations.trackers.send import Logged as Logged
from rushes.integrations.trackers.send import log as log
