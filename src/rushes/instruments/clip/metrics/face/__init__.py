"""Metrics of the followed face: presence, blinks, identity, mouth, lip sync."""
