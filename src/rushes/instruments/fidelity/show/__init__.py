"""A fidelity run in front of people."""
