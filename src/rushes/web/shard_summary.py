"""A run in shards in a few words: its counts are in `index.json`, or in the markers of the shards that are finished."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

_BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


def shard_counts(folder: Path) -> tuple[int, dict[str, int]]:
    """How many clips are finished, and how many have which review signal."""
    rows, badges = 0, Counter[str]()
    try:
        for shard in _shards(folder):
            rows += int(shard["rows"])
            badges.update({badge: int(count) for badge, count in shard["badges"].items() if badge})
    except _BROKEN:
        pass  # the run's own page says what is wrong with it
    return rows, dict(badges)


def shard_size(folder: Path) -> int:
    """Bytes of its tables."""
    try:
        return sum(file.stat().st_size for file in (folder / "shards").glob("*.parquet"))
    except OSError:
        return 0


def shard_ids(folder: Path, most: int) -> frozenset[str]:
    """The ids of its first clips; none where Parquet cannot be read here."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return frozenset()

    def ids(file: Path) -> list[str]:
        return [str(name) for name in pq.read_table(file, columns=["id"]).column("id").to_pylist()]

    try:
        files = sorted((folder / "shards").glob("*.parquet"))
        return frozenset(islice(chain.from_iterable(map(ids, files)), most))
    except (*_BROKEN, RuntimeError):
        return frozenset()


def _shards(folder: Path) -> Iterator[Mapping[str, Any]]:
    try:
        yield from json.loads((folder / "index.json").read_bytes())["shards"]
    except FileNotFoundError:
        for marker in sorted((folder / "shards").glob("*.json")):
            yield json.loads(marker.read_bytes())["shard"]
