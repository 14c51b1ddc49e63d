"""Instrument 6: how far a clip is from its reference. Every constant of every formula is in the signature."""

from rushes._lazy import as_verb, lazy

__all__, __getattr__ = lazy(__name__, __file__)
as_verb(__name__, "rushes.instruments.fidelity.evaluate:fidelity")
