"""Instrument 5: ESI and Justification Drift. The seed's own modules need the standard library only."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
