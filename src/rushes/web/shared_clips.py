"""Which of the served runs share clips: only those can be held against each other, clip by clip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from rushes.errors import RunError
from rushes.runs import read_run
from rushes.web.run_cache import run_stamp, run_status

_MOST_RUNS = 500
"""Runs whose names of clips are kept; some 100 kB for a run of 1,000 clips."""


def clip_ids(folder: Path) -> frozenset[str]:
    """Names of a run's subjects as they are on disk now; none where the run cannot be read."""
    return _ids(folder, run_stamp(folder))


@lru_cache(maxsize=_MOST_RUNS)
def _ids(folder: Path, stamp: str) -> frozenset[str]:
    try:
        return frozenset(subject.id for subject in read_run(folder).subjects)
    except RunError:
        return frozenset()  # that run's own page says what is wrong with it


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
