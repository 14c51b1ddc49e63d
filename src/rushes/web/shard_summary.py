"""A run in shards in a few words: its counts are in `index.json`, or in the markers of the shards that are finished."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
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
    return frozenset(str(row[0]) for row in shard_texts(folder, most, ("id",)))


def shard_texts(folder: Path, most: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Some columns of its first clips; none where Parquet cannot be read here."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return []

    def rows(file: Path) -> Iterator[tuple[Any, ...]]:
        # One by one: a reader of data sets takes a tenth of a second to load.
        with pq.ParquetFile(file) as table:
            found = table.read(columns=list(columns))
        return zip(*(found.column(name).to_pylist() for name in columns), strict=True)

    try:
        files = sorted((folder / "shards").glob("*.parquet"))
        return list(islice(chain.from_iterable(map(rows, files)), most))
    except (*_BROKEN, RuntimeError):
        return []


def shard_worst(folder: Path, badges: Sequence[str], most: int) -> tuple[str, ...]:
    """The clips to look at first: by review signal in the order of `badges`, those with most reasons first.

    Only shards that have clips of a worse signal than those found so far are looked into, and of them two columns.
    """
    try:
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        return ()
    found: list[tuple[int, int, int, int]] = []
    try:
        shards = list(_shards(folder))
        for rank, badge in enumerate(badges):
            for number in sorted(int(shard["number"]) for shard in shards if shard["badges"].get(badge)):
                with pq.ParquetFile(folder / "shards" / f"{number:05d}.parquet") as table:
                    marks = table.read(columns=["badge", "reasons"])
                    rows = pc.indices_nonzero(pc.equal(marks.column("badge"), badge))
                    many = pc.list_value_length(marks.column("reasons").take(rows)).to_pylist()
                    first = nsmallest(most, zip((-count for count in many), rows.to_pylist(), strict=True))
                found = nsmallest(most, [*found, *((rank, count, number, row) for count, row in first)])
            if len(found) >= most:
                break
        return tuple(_id(folder, number, row) for _, _, number, row in found)
    except (*_BROKEN, RuntimeError):
        return ()


def _id(folder: Path, number: int, row: int) -> str:
    import pyarrow.parquet as pq

    with pq.ParquetFile(folder / "shards" / f"{number:05d}.parquet") as table:
        return str(table.read(columns=["id"]).column(0)[row].as_py())


def _shards(folder: Path) -> Iterator[Mapping[str, Any]]:
    try:
        yield from json.loads((folder / "index.json").read_bytes())["shards"]
    except FileNotFoundError:
        for marker in sorted((folder / "shards").glob("*.json")):
            yield json.loads(marker.read_bytes())["shard"]
