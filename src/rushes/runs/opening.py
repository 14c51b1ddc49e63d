"""The writer that fits a run: in one piece or in shards, in a folder or at an address."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rushes.errors import RunError
from rushes.remote.address import is_remote, joined
from rushes.remote.errors import Vanished
from rushes.remote.store import get_bytes
from rushes.runs.remote.mirror import MirroredRun
from rushes.runs.remote.mirrored_shards import MirroredShards
from rushes.runs.remote.pulling import read_info, run_address
from rushes.runs.shards.writer import ShardedWriter
from rushes.runs.writer import SHARDED, RunWriter


def open_run(
    path: Path | str,
    *,
    instrument: str,
    settings: Mapping[str, object],
    inputs: Sequence[str] = (),
    asked: Sequence[str] | None = None,
    add: bool = False,
    overwrite: bool = False,
    shards: int = 0,
) -> RunWriter:
    """The writer of a run: `RunWriter` for a folder, `MirroredRun` for an address; parameters as there.

    `shards` is the number of clips in a shard, 0 for a run in one piece; a run that is there stays what it is.
    """
    if shards < 0:
        raise RunError(f"{path}: a shard holds at least 1 clip, 0 is for none; got {shards}")
    there = {} if overwrite or str(path) == "" else _info(path)
    if there:
        shards = (shards or 1) if there.get("format") == SHARDED else 0
    whole: type[RunWriter] = MirroredRun if is_remote(path) else RunWriter
    if not shards:
        return whole(
            path, instrument=instrument, settings=settings, inputs=inputs, asked=asked, add=add, overwrite=overwrite
        )
    kind = MirroredShards if is_remote(path) else ShardedWriter
    return kind(
        path,
        size=shards,
        instrument=instrument,
        settings=settings,
        inputs=inputs,
        asked=asked,
        add=add,
        overwrite=overwrite,
    )


def _info(path: Path | str) -> Mapping[str, object]:
    """What the run that is there says about itself; {} where there is none."""
    if not is_remote(path):
        return read_info(Path(path))
    try:
        found = json.loads(get_bytes(joined(run_address(str(path)), "run.json")))
    except (Vanished, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
