"""Measuring inside a training loop: objects that are updated batch by batch, merged across ranks, and computed."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
