"""Which of the served runs share clips: only those can be held against each other, clip by clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from rushes.errors import RunError
from rushes.runs import read_run
from rushes.web.run_cache import run_stamp, run_status

_MOST_RUNS = 500
"""Runs whose names and digests of clips are kept; some 300 kB for a run of 1,000 clips."""


def clip_ids(folder: Path) -> frozenset[str]:
    """Names of a run's subjects as they are on disk now; none where the run cannot be read."""
    return _known(folder, run_stamp(folder))[0]


def clip_digests(folder: Path) -> dict[str, str]:
    """Ids of a run's clips by the sha256 of their files."""
    return _known(folder, run_stamp(folder))[1]


@lru_cache(maxsize=_MOST_RUNS)
def _known(folder: Path, stamp: str) -> tuple[frozenset[str], dict[str, str]]:
    try:
        subjects = read_run(folder).subjects
    except RunError:
        return frozenset(), {}  # that run's own page says what is wrong with it
    digests = {s.sha256: s.id for s in reversed(subjects) if s.kind == "clip" and s.sha256}
    return frozenset(subject.id for subject in subjects), digests


def shares_clips(runs: Mapping[str, Path], name: str) -> list[str]:
    """Names of the other runs of the same instrument that share a clip with this one.

    Sets and studies have one subject of a fixed name, so they always share it: what they are held against is that.
    """
    return list(_sharing(runs, name))


def _sharing(runs: Mapping[str, Path], name: str) -> Iterator[str]:
    instrument, own = run_status(runs[name])["instrument"], clip_ids(runs[name])
    for other, folder in runs.items():
        if other != name and run_status(folder)["instrument"] == instrument and not own.isdisjoint(clip_ids(folder)):
            yield other
