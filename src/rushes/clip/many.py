"""The clips a page has room for, of a run too large to be read whole, and what is counted over all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushes.clip.badges import BADGES
from rushes.report.reasons import ranked, reason_kind, reason_metric
from rushes.report.subjects import Whole
from rushes.runs import Entry, Run

MOST_CLIPS = 1000
"""Clips of a run in shards that a report has, worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyClips:
    """A run in shards that has more clips than a page."""

    worst: Sequence[Entry]
    """The first `MOST_CLIPS` in the order of `rushes.clip.tables.worst_first`."""
    whole: Whole
    kinds: Sequence[tuple[str, int]]
    """Kinds of reasons in words with how many clips, most frequent first."""


def many_clips(run: Run, *, most: int = MOST_CLIPS) -> ManyClips | None:
    """The worst clips and the counts of a run in shards; None where the run is in one piece or has room on a page.

    Columns are read, no clip but the worst: some 15 bytes a clip are held.
    """
    if run.shards is None or len(run.subjects) <= most:
        return None
    import numpy as np

    from rushes.runs.shards import scanning
    from rushes.runs.shards.lines import entry_of

    shards = run.shards
    codes, reasons = scanning.signals(shards, BADGES)
    lines = scanning.lines_at(shards, scanning.worst_first(codes, reasons)[:most].tolist())
    counts = np.bincount(codes, minlength=len(BADGES)).tolist()
    return ManyClips(
        worst=[entry_of(line, shards.definitions) for line in lines],
        whole=Whole(
            total=len(codes),
            counts=dict(zip(BADGES, counts, strict=False)),
            reasons=scanning.tally_reasons(shards, reason_metric)[0],
            not_judged=scanning.tally_not_judged(shards),
        ),
        kinds=ranked(scanning.tally_reasons(shards, reason_kind, once=True)[0]),
    )
