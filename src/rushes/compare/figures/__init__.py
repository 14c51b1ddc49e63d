"""Figures for a paper, drawn from a suite."""
