"""Metrics of time: at which rate pictures change, in what order they come, and where time is missing."""
