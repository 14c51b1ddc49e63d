"""What boards show of a distribution run: the distances of the whole set, each with the digest of its ground truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rushes.core.reading import Reading, group_readings
from rushes.instruments.distribution.few_videos import GEN_ID, GT_ID
from rushes.storage.runs import Run


def readings(run: Run) -> Iterator[Reading]:
    """Of the whole generated set, not of classes, smaller sets or a second one."""
    truth = next((subject.sha256 for subject in run.subjects if subject.id == GT_ID), None)
    references = {} if truth is None else {GEN_ID: truth}
    for reading in group_readings((GEN_ID, m) for m in run.measurements.get(GEN_ID, ()) if not m.at):
        yield replace(reading, label=reading.name.upper(), instrument="distribution", references=references)
