"""Runs over the same clips, each against the first."""
