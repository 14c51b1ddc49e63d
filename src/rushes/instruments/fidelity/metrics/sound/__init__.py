"""Metrics that hear both clips: PESQ, STOI."""
