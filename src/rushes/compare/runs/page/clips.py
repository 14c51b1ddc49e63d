"""The clips that changed most, worst first: what moved on each, and what the page shows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rushes.compare.runs.changes import Change
from rushes.compare.runs.compare import change_in_spreads
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.results import MetricComparison
from rushes.present.pages.film_strips import Strip
from rushes.storage.columns import stored_shards
from rushes.storage.runs import Entry, Run
from rushes.storage.shards.scanning import position_of

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
    """The clips that changed most, in units of each metric's spread; those that got worse come first.

    In order of the largest change for the worse, then of the largest change of any kind.
    """
    takes = {subject.id for subject in found.runs[0].subjects if subject.kind in _CLIPS}
    # A study's score or a mean over a set is no clip.
    judged = [one for one in found.judged if not (one.single and one.changes[0].subject not in takes)]
    ranks: dict[str, tuple[float, float]] = {}
    for one in judged:
        worse = [side for side in (True, False) if one.statistics.metric.verdict(rose=side) == "worse"]
        for name, size in change_in_spreads(one).items():
            loss, change = ranks.get(name, (0.0, 0.0))
            ranks[name] = min(loss, -abs(size) if (size > 0) in worse else 0.0), min(change, -abs(size))
    chosen = sorted(ranks, key=ranks.__getitem__)[:count]
    changes: dict[str, list[ClipChange]] = {name: [] for name in chosen}
    for one in judged:
        sizes = change_in_spreads(one)
        places = {name: place for place, name in enumerate(one.changes.subjects) if name in changes}
        for name in (name for name in chosen if name in sizes):
            changes[name].append(ClipChange(judged=one, change=one.changes[places[name]], size=sizes[name]))
    return [
        ChangedClip(subject=name, changes=tuple(sorted(rows, key=lambda row: -abs(row.size))))
        for name, rows in changes.items()
    ]


def entries_of(found: RunsComparison, subject: str) -> list[Entry | None]:
    """The clip's row in each run; None in a run that is not compared on it."""
    shared = [True, *(subject in comparison.paired for comparison in found.comparisons)]
    return [_entry(run, subject) if there else None for run, there in zip(found.runs, shared, strict=True)]


def _entry(run: Run, subject: str) -> Entry | None:
    if (shards := stored_shards(run)) is None:
        return next((entry for entry in run.entries if entry.subject.id == subject), None)
    found = position_of(shards, subject)
    return None if found is None else shards.entries[found]
