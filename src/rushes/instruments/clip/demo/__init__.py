"""Clips with known faults, and what is found in them."""
