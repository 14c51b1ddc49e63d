"""Instrument 1: MetricBundleV1, what can be measured on one take."""
