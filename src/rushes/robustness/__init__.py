"""Instrument 5: ESI and Justification Drift. Standard library only."""
