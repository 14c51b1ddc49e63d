"""What boards show of a robustness run: stability and drift, a column for each axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rushes.core.reading import Reading, group_readings
from rushes.storage.runs import Run

_HEADS = {"esi": "ESI", "justification_drift": "drift"}


def readings(run: Run) -> Iterator[Reading]:
    """Of every sweep, and of all together where they were pooled."""
    every = ((entry.subject.id, m) for entry in run.entries for m in entry.measurements)
    for reading in group_readings((name, m) for name, m in every if m.name in _HEADS and m.place.keys() == {"axis"}):
        label = f"{_HEADS[reading.name]} {reading.at[0][1]}"
        yield replace(reading, label=label, instrument="robustness")
