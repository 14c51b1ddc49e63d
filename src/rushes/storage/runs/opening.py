"""The writer that fits a run: in one piece or in shards, in a folder or at an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from rushes.core.errors import RunError
from rushes.storage.mirrors.pulling import read_info
from rushes.storage.mirrors.run import MirroredRun, MirroredShards
from rushes.storage.remote.address import is_remote
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
        raise RunError(f"{path}: expected 1 or more clips per shard, or 0 for no shards; got {shards}")
    there = {} if overwrite or str(path) == "" else read_info(path)
    if there:
        shards = (shards or 1) if in_shards(there) else 0
    kinds: tuple[type[RunWriter], type[ShardedWriter]] = (RunWriter, ShardedWriter)
    whole, parts = (MirroredRun, MirroredShards) if is_remote(path) else kinds
    make = partial(parts, size=shards) if shards else whole
    return make(
        path, instrument=instrument, settings=settings, inputs=inputs, asked=asked, add=add, overwrite=overwrite
    )
