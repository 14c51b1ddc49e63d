"""Instrument 6: how far a clip is from its reference. Every constant of every formula is in the signature."""
