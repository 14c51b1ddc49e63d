"""Instrument 3: metric-locked PCK and MPJPE. A PCK without its normalisation cannot be made here."""

from rushes._lazy import as_verb, lazy

__all__, __getattr__ = lazy(__name__, __file__)
as_verb(__name__, "rushes.instruments.pose.evaluate:pose")
