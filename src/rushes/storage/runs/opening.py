"""The writer that fits a run: in one piece or in shards, in a folder or at an address."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rushes.core.errors import RunError
from rushes.storage.mirrors.pulling import read_info, run_address
from rushes.storage.mirrors.run import MirroredRun
from rushes.storage.mirrors.shards import MirroredShards
from rushes.storage.remote.address import is_remote, joined
from rushes.storage.remote.errors import Vanished
from rushes.storage.remote.store import get_bytes
from rushes.storage.runs.writer import RunWriter, in_shards
from rushes.storage.shards.writer import ShardedWriter


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
        shards = (shards or 1) if in_shards(there) else 0
    kinds: tuple[type[RunWriter], type[ShardedWriter]] = (RunWriter, ShardedWriter)
    whole, parts = (MirroredRun, MirroredShards) if is_remote(path) else kinds
    make = partial(parts, size=shards) if shards else whole
    return make(
        path, instrument=instrument, settings=settings, inputs=inputs, asked=asked, add=add, overwrite=overwrite
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
