"""The numbers of a run as readings: all of them, or those about a subject as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rushes.core.reading import Reading, group_readings
from rushes.storage.runs.run import Run


def every_reading(run: Run, subjects: Iterable[str] | None = None) -> list[Reading]:
    """Every reading of these subjects (left out: of all), in order of first appearance, parts of a subject included."""
    if subjects is None:
        return group_readings((entry.subject.id, m) for entry in run.entries for m in entry.measurements)
    return group_readings((name, m) for name in subjects for m in run.measurements.get(name, ()))


def whole_readings(run: Run) -> Iterator[Reading]:
    """What an instrument shows that does not say: every number about a subject as a whole, called by its metric."""
    whole = ((entry.subject.id, m) for entry in run.entries for m in entry.measurements if not m.at)
    for reading in group_readings(whole):
        yield replace(reading, label=reading.name, instrument=run.instrument)
