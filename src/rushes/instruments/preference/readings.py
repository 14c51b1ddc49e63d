"""What boards show of a study: the strength of each system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rushes.core.reading import Reading, group_readings
from rushes.instruments.preference.instrument import INSTRUMENT
from rushes.storage.runs import Run


def readings(run: Run) -> Iterator[Reading]:
    """A reading per system, which its `at` names."""
    every = ((entry.subject.id, m) for entry in run.entries for m in entry.measurements if m.name == "bt_elo")
    for reading in group_readings((name, m) for name, m in every if m.place.keys() == {"system"}):
        yield replace(reading, label="Elo", instrument=INSTRUMENT.name)
