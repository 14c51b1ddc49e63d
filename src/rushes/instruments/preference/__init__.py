"""Instrument 4: which take do people prefer? Votes, their statistics, the study that gathers them, its numbers."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
