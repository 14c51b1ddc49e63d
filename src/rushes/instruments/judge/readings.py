"""What boards show of a judge's run: a column per question; of pairs, the strength of each system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rushes.core.reading import Reading, group_readings
from rushes.storage.runs import Run

_CLIPS = ("judge_grade", "judge_yes_share")


def readings(run: Run) -> Iterator[Reading]:
    """Of the clips every question; of pairs the strengths under "judge:MODEL", beside people's and never with them."""
    rows = ((e.subject.id, m) for e in run.entries if e.subject.kind == "clip" for m in e.measurements)
    for reading in group_readings((name, m) for name, m in rows if m.name in _CLIPS):
        yield replace(reading, label="Judge", instrument="judge")  # a board adds the question, which names the metric
    every = ((e.subject.id, m) for e in run.entries if e.subject.kind == "study" for m in e.measurements)
    for reading in group_readings((name, m) for name, m in every if m.name == "judge_elo"):
        yield replace(reading, label=f"judge:{reading.definition.param('model')}", instrument="judge")
