"""Scored poses in words: the headline of the terminal and of Python, and the notes under it."""

from __future__ import annotations

from collections.abc import Sequence

from rushes.core import Measurement
from rushes.core.words.definition_text import value_text
from rushes.instruments.pose.show.tables import norm_of, pcks

_HEADS = {"pck": "PCK", "pckh": "PCKh"}
_K = "20"
"""The percentage that a headline names, where it was asked for."""


def headline(measurements: Sequence[Measurement], basis: str) -> str:
    """ "PCK@20 0.8123 (torso-diameter), MPJPE 12.30 px; 40 frames."."""
    found = [m for m in pcks(measurements) if not m.at]
    ks = [m.definition.param("k") for m in found]
    k = _K if _K in ks else next((text for text in ks if text), "")
    parts = [f"{_head(m)}@{k} {value_text(m)} ({norm_of(m)})" for m in found if m.definition.param("k") == k]
    for m in measurements:
        if m.name == "mpjpe" and not m.at:
            parts.append(f"MPJPE {value_text(m)} {m.definition.unit}".rstrip())
            break
    return f"{', '.join(parts) or 'No value'}; {basis}."


def note_lines(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Why a PCK has no value, or what to know of it."""
    return tuple(dict.fromkeys(f"{_head(m)} {norm_of(m)}: {m.note}" for m in pcks(measurements) if m.note))


def _head(measurement: Measurement) -> str:
    return _HEADS[measurement.definition.name]
