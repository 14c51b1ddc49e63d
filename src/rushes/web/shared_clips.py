"""Which of the served runs share clips: only those can be held against each other, clip by clip."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rushes.errors import RunError
from rushes.runs import read_run
from rushes.web.run_cache import RunCache, run_stamp
from rushes.web.run_summary import MOST_IDS, is_sharded
from rushes.web.shard_summary import shard_ids, shard_texts

if TYPE_CHECKING:
    from rushes.web.workbench import Workbench

_MOST_RUNS = 500
"""Runs whose names and digests of clips are kept; some 300 kB for a run of 1,000 clips."""
_MOST_SHARDED = 4
"""Runs in shards whose names are kept, some 10 MB each."""


def clip_ids(folder: Path) -> frozenset[str]:
    """Names of a run's subjects as they are on disk now; none where the run cannot be read.

    Of a run in shards, those of its first 100,000.
    """
    if is_sharded(folder):
        return _shard_ids(folder, run_stamp(folder))
    return _known(folder, run_stamp(folder))[0]


def has_clip(folder: Path, subject: str, *, run_cache: RunCache) -> bool:
    """Whether a run has a clip of this name; of a run in shards only the shard is looked into that may have it."""
    if not is_sharded(folder):
        return subject in clip_ids(folder)
    try:
        return subject in run_cache.read(folder).by_id
    except RunError:
        return False


def clip_digests(folder: Path) -> dict[str, str]:
    """Ids of a run's clips by the sha256 of their files."""
    return _known(folder, run_stamp(folder))[1]


@lru_cache(maxsize=_MOST_SHARDED)
def _shard_ids(folder: Path, stamp: str) -> frozenset[str]:
    return shard_ids(folder, MOST_IDS)


@lru_cache(maxsize=_MOST_RUNS)
def _known(folder: Path, stamp: str) -> tuple[frozenset[str], dict[str, str]]:
    subjects = _subjects(folder)
    digests = {sha256: name for name, kind, sha256 in reversed(subjects) if kind == "clip" and sha256}
    return frozenset(name for name, _, _ in subjects), digests


def _subjects(folder: Path) -> list[tuple[str, str, str]]:
    """Id, kind and digest of each subject; of a run in shards, of its first 100,000.

    Of a finished run its list alone is read, not its many numbers.
    """
    if is_sharded(folder):
        return [
            (name, kind, sha256 or "") for name, kind, sha256 in shard_texts(folder, MOST_IDS, ("id", "kind", "sha256"))
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
    mine = summaries.ids(runs[name])
    instrument = summaries.head(runs[name]).instrument
    common = {
        other: len(mine & summaries.ids(folder))
        for other, folder in runs.items()
        if other != name and summaries.head(folder).instrument == instrument
    }
    return sorted((other for other, count in common.items() if count), key=lambda other: (-common[other], other))
