"""The clips that changed most, worst first: what moved on each, and what the page shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rushes.compare.runs.changes import Change
from rushes.compare.runs.compare import change_in_spreads
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.results import MetricComparison
from rushes.present.pages.film_strips import Strip
from rushes.storage.runs import Entry

_CLIPS = ("clip", "pair")
MOST_CHANGES = 6
"""Changes that are listed of one clip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipChange:
    """One number of one clip, in the first run and in another."""

    judged: MetricComparison
    change: Change
    size: float
    """In units of the metric's spread, with its sign."""

    @property
    def word(self) -> str:
        """What this clip's own change says: "worse", "better" or "moved"."""
        return self.judged.statistics.metric.verdict(rose=self.size > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedClip:
    """A clip with its largest changes over all runs, the largest first."""

    subject: str
    changes: tuple[ClipChange, ...]

    @property
    def shown(self) -> tuple[ClipChange, ...]:
        return self.changes[:MOST_CHANGES]

    @property
    def rank(self) -> tuple[float, float]:
        """Sorts the worst first: by its largest change for the worse, then by its largest change of any kind."""
        worse = max((abs(one.size) for one in self.changes if one.word == "worse"), default=0.0)
        return -worse, -abs(self.changes[0].size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """One run's version of a clip, as pictures."""

    letter: str
    run: str
    path: str
    strip: Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClip:
    """A changed clip with everything the page shows of it."""

    clip: ChangedClip
    takes: tuple[Highlight, ...]
    timeline: Mapping[str, object] | None
    pictures_of: str = ""
    """What the pictures are, where they are no film strip."""


def most_changed(found: RunsComparison, count: int) -> list[ChangedClip]:
    """The clips that changed most, in units of each metric's spread; those that got worse come first."""
    changes: dict[str, list[ClipChange]] = {}
    takes = {subject.id for subject in found.runs[0].subjects if subject.kind in _CLIPS}
    for one in found.judged:
        if one.single and one.changes[0].subject not in takes:
            continue  # a study's score or a mean over a set is no clip
        sizes = change_in_spreads(one)
        for change in one.changes:
            if change.subject in sizes:
                new = ClipChange(judged=one, change=change, size=sizes[change.subject])
                changes.setdefault(change.subject, []).append(new)
    clips = [
        ChangedClip(subject=name, changes=tuple(sorted(rows, key=lambda row: -abs(row.size))))
        for name, rows in changes.items()
    ]
    return sorted(clips, key=lambda clip: clip.rank)[:count]


def entries_of(found: RunsComparison, subject: str) -> list[Entry | None]:
    """The clip's row in each run; None in a run that is not compared on it."""
    shared = [True, *(subject in comparison.paired for comparison in found.comparisons)]
    return [
        next((entry for entry in run.entries if entry.subject.id == subject), None) if there else None
        for run, there in zip(found.runs, shared, strict=True)
    ]
