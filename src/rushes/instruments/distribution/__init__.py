"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
