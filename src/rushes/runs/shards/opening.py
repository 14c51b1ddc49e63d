"""Opening a run in shards: its index, or what is finished of it, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rushes.remote.address import joined
from rushes.remote.errors import Vanished
from rushes.remote.store import get_files
from rushes.runs.remote.pulling import listed
from rushes.runs.run import Run
from rushes.runs.shards.index import FOLDER, INDEX, Index, read_index, read_markers, require_pyarrow, require_whole
from rushes.runs.shards.places import LocalPlace, MixedPlace, RemotePlace, ShardPlace
from rushes.runs.shards.reading import ShardedMeasurements, ShardedSubjects, Shards
from rushes.runs.shards.spool import FOLDER as SPOOL
from rushes.runs.shards.spool import Span, read_spools


def read_shards(folder: Path, info: Mapping[str, Any]) -> Run:
    """A run in shards in a folder here; `RunError` where a shard of it is missing or cut."""
    require_pyarrow()
    loose: dict[str, Span] = {}
    if (folder / INDEX).exists():
        index = read_index((folder / INDEX).read_bytes(), info["definitions"])
        require_whole(folder, index.shards)
    else:
        index, loose = _under_way(folder, LocalPlace(folder))
    return _run(folder, info, Shards(LocalPlace(folder), index, loose))


def read_remote_shards(url: str, folder: Path, info: Mapping[str, Any]) -> Run:
    """The same at an address, of which nothing is copied but the index; of a run under way, markers and spools."""
    require_pyarrow()
    try:
        index = read_index(RemotePlace(url).read(INDEX), info["definitions"])
    except Vanished:
        names = [name for name in listed(url) if name.startswith((f"{SPOOL}/", f"{FOLDER}/"))]
        small = [name for name in names if not name.endswith((".parquet", ".series"))]
        get_files([(joined(url, name), folder / name) for name in small])
        index, loose = _under_way(folder, MixedPlace(folder, url))
        return _run(folder, info, Shards(MixedPlace(folder, url), index, loose))
    return _run(folder, info, Shards(RemotePlace(url), index))


def _run(folder: Path, info: Mapping[str, Any], shards: Shards) -> Run:
    return Run(folder, info, ShardedSubjects(shards), ShardedMeasurements(shards), shards=shards)


def _under_way(folder: Path, place: ShardPlace) -> tuple[Index, dict[str, Span]]:
    """The shards that are made so far, and the clips that are finished and in none of them."""
    pairs = read_markers(folder, None if isinstance(place, LocalPlace) else lambda shard: "")
    definitions = {key: facts for _, more in pairs for key, facts in more.items()}
    inside = Shards(place, Index(tuple(shard for shard, _ in pairs), definitions))
    loose: dict[str, Span] = {}
    for record in read_spools(folder):
        if isinstance(record, dict):
            definitions[str(record["signature"])] = record
        elif inside.find(name := str(json.loads(record[1])["subject"]["id"])) is None:
            loose[name] = record[0]
    return Index(inside.index.shards, definitions), loose
