"""Optical flow in the one pass over a clip."""
