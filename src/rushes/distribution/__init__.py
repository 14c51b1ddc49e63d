"""Instrument 2: FVD, FID-VID and KVD, does this set look like the real one?"""

from rushes.distribution.backbones import BACKBONES, Backbone

__all__ = ["BACKBONES", "Backbone"]
