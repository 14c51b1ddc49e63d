"""Metrics of other packages that failed in a run: how often, and what the first of them said."""

from __future__ import annotations

from dataclasses import dataclass

from rushes.core.estimate import Why
from rushes.storage.runs.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedMetric:
    """One metric that failed on some subjects."""

    name: str
    count: int
    of: int
    """Clips of the run; a set beside them repeats what they say."""
    first: str
    """Its note on the first of them."""

    @property
    def text(self) -> str:
        """ "letterbox_ratio failed on 12 of 40 clips (letterbox_ratio failed: ValueError: no frame)"."""
        clips = "clip" if self.of == 1 else "clips"
        return f"{self.name} failed on {self.count} of {self.of} {clips} ({self.first})"


def failed_metrics(run: Run) -> list[FailedMetric]:
    """The metrics that failed, as first met; [] where none did."""
    notes: dict[str, list[str]] = {}
    for entry in run.entries:
        for m in entry.measurements:
            if m.why is Why.PACKAGE_FAILED:
                notes.setdefault(m.name, []).append(m.note)
    total = sum(subject.kind != "set" for subject in run.subjects) or len(run.subjects)
    return [FailedMetric(name=name, count=len(said), of=total, first=said[0]) for name, said in notes.items()]
