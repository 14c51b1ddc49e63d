"""What every number carries: its definition, its count, its canonical form. Standard library only."""

from rushes.core.canonical import canonical_json, canonical_line, stored_float
from rushes.core.definition import Definition, parse_signature, signature_params
from rushes.core.measurement import Interval, Measurement, difference, mean

__all__ = [
    "Definition",
    "Interval",
    "Measurement",
    "canonical_json",
    "canonical_line",
    "difference",
    "mean",
    "parse_signature",
    "signature_params",
    "stored_float",
]
