"""Votes in and out: the ratings CSV, a full table (CSV, Parquet), and the formats other tools read."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
