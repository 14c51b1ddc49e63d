"""Numbers with their signatures and intervals into Weights & Biases, MLflow and TensorBoard."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
