"""Instrument 3: metric-locked PCK and MPJPE."""
