"""Which of the served runs share clips: only those can be held against each other, clip by clip."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.core.errors import RunError
from rushes.storage.runs import read_run
from rushes.web.runs.rows import rows_of
from rushes.web.runs.summary import MOST_IDS, is_sharded, run_stamp, shard_texts

if TYPE_CHECKING:
    from rushes.web.workbench import Workbench

_MOST_RUNS = 500
"""Runs whose digests of clips are kept; some 150 kB for a run of 1,000 clips."""


def has_clip(bench: Workbench, folder: Path, subject: str) -> bool:
    """Whether a run has a clip of this name; of a run in shards only the shard is looked into that may have it."""
    if not is_sharded(folder) and len(ids := bench.summaries.ids(folder)) < MOST_IDS:
        return subject in ids
    try:
        return rows_of(bench.run_cache.read(folder)).has(subject)
    except RunError:
        return False


def clip_digests(folder: Path) -> dict[str, str]:
    """Ids of a run's clips by the sha256 of their files."""
    return _digests(folder, run_stamp(folder))


@lru_cache(maxsize=_MOST_RUNS)
def _digests(folder: Path, stamp: str) -> dict[str, str]:
    return {sha256: name for name, kind, sha256 in reversed(_subjects(folder)) if kind == "clip" and sha256}


def _subjects(folder: Path) -> list[tuple[str, str, str]]:
    """Id, kind and digest of each subject; of a run in shards, of its first 100,000.

    Of a finished run its list alone is read, not its many numbers.
    """
    if is_sharded(folder):
        return [
            (name, kind, sha256 or "")
            for name, kind, sha256 in shard_texts(folder, MOST_IDS, ("id", "kind", "sha256")) or ()
        ]
    try:
        with open(folder / "subjects.jsonl", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [(str(row["id"]), str(row["kind"]), str(row["sha256"] or "")) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # still going, or damaged: the run's own reader knows what can be had
    try:
        return [(subject.id, subject.kind, subject.sha256 or "") for subject in read_run(folder).subjects]
    except RunError:
        return []  # that run's own page says what is wrong with it


def shares_clips(bench: Workbench, name: str) -> list[str]:
    """The served runs that this one can be compared with: of the same instrument, with some of its clips; most in
    common first. Ids are read once for each state of a run, of its first 100,000 clips, whole or in shards.

    Sets and studies have one subject of a fixed name, so they always share it: what they are held against is that.
    """
    runs, summaries = dict(bench.runs), bench.summaries
    instrument = summaries.head(runs[name]).instrument
    alike = {
        other: folder
        for other, folder in runs.items()
        if other != name and summaries.head(folder).instrument == instrument
    }
    mine = summaries.ids(runs[name]) if alike else frozenset()
    common = {other: len(mine & summaries.ids(folder)) for other, folder in alike.items()}
    return sorted((other for other, count in common.items() if count), key=lambda other: (-common[other], other))
