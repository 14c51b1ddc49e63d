"""Run directories: write, continue, read."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
