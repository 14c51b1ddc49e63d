"""Metrics of the sound alone."""
