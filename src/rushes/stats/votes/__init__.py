"""Votes on pairs of systems: counted, ranked, scaled, planned."""
