"""The rows of an open run: in memory, or in parts where the run is in shards."""

from __future__ import annotations

from rushes.web.run_cache import OpenRun
from rushes.web.run_rows import MemoryRows, RunRows


def rows_of(opened: OpenRun) -> RunRows:
    """What every page asks. Of a run in shards it is kept, with what it has read, as long as this state of the run."""
    if opened.run.shards is None:
        return MemoryRows(opened)
    from rushes.web.shard_rows import ShardRows

    if "rows" not in opened.kept:
        opened.kept.setdefault("rows", ShardRows(opened, opened.run.shards))  # of two at once, one stays
    found: RunRows = opened.kept["rows"]
    return found
