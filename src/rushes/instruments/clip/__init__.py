"""Instrument 1: what can be measured on one take. MetricBundleV1, and any metric that a package adds."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
