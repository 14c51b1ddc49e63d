"""What a run in shards consists of: `index.json` when it is complete, a marker beside each shard until then."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import RunError
from rushes.core.machine.files import replacing_bytes
from rushes.core.machine.installing import not_installed
from rushes.core.machine.provenance import file_digest
from rushes.storage.shards.table import ReadingKey

FOLDER = "shards"
INDEX = "index.json"
INPUTS = "inputs.jsonl"
_NUMBERS = ("number", "first", "rows", "measurements", "bytes", "series_bytes")
_WORDS = ("low", "high", "sha256", "series_sha256")
_MARKER = re.compile(r"(\d{5,})\.json")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shard:
    """One shard: which clips it holds, how large its two files are, and their digests."""

    number: int
    first: int
    """Number of its first clip in the run, from 0."""
    rows: int
    measurements: int
    badges: Mapping[str, int]
    """Clips by review signal; "" for none."""
    low: str
    """The least of its ids, and the greatest: most shards need not be opened to find a clip."""
    high: str
    bytes: int
    sha256: str
    series_bytes: int
    series_sha256: str
    readings: tuple[ReadingKey, ...]
    intervals: tuple[ReadingKey, ...]

    @property
    def name(self) -> str:
        """Of its table, below the run's folder."""
        return f"{FOLDER}/{self.number:05d}.parquet"

    @property
    def series_name(self) -> str:
        return f"{FOLDER}/{self.number:05d}.series"

    def as_dict(self, readings: Sequence[ReadingKey]) -> dict[str, object]:
        """Plain data; readings by their numbers in the given list."""
        places = {key: place for place, key in enumerate(readings)}
        numbered = {part: [places[key] for key in getattr(self, part)] for part in ("readings", "intervals")}
        return {word: getattr(self, word) for word in (*_NUMBERS, *_WORDS)} | {"badges": dict(self.badges)} | numbered

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], readings: Sequence[ReadingKey]) -> Shard:
        """The same, read back; `TypeError`, `ValueError` or `LookupError` where it is something else."""
        found: dict[str, Any] = {key: data[key] for key in (*_NUMBERS, *_WORDS)}
        if not all(isinstance(found[key], int) and found[key] >= 0 for key in _NUMBERS):
            raise TypeError("a shard's counts are whole numbers")
        found |= {part: tuple(readings[place] for place in data[part]) for part in ("readings", "intervals")}
        return cls(**found, badges={str(key): int(count) for key, count in data["badges"].items()})


@dataclass(frozen=True, slots=True)
class Index:
    """The shards in order, and every definition they use."""

    shards: tuple[Shard, ...]
    definitions: Mapping[str, Mapping[str, Any]]

    @property
    def rows(self) -> int:
        return sum(shard.rows for shard in self.shards)

    @property
    def measurements(self) -> int:
        return sum(shard.measurements for shard in self.shards)

    @property
    def readings(self) -> list[ReadingKey]:
        """Every reading, as first met."""
        return list(dict.fromkeys(key for shard in self.shards for key in shard.readings))

    @property
    def intervals(self) -> list[ReadingKey]:
        return list(dict.fromkeys(key for shard in self.shards for key in shard.intervals))

    def as_bytes(self) -> bytes:
        readings = self.readings
        data = {
            "readings": [key.as_dict() for key in readings],
            "shards": [shard.as_dict(readings) for shard in self.shards],
        }
        return (canonical_json(data) + "\n").encode()


def read_index(data: bytes, definitions: Mapping[str, Mapping[str, Any]]) -> Index:
    """`index.json` with the definitions of `run.json`."""
    found = json.loads(data)
    readings = [ReadingKey.from_dict(row) for row in found["readings"]]
    return Index(tuple(Shard.from_dict(row, readings) for row in found["shards"]), definitions)


def write_marker(folder: Path, shard: Shard, definitions: Mapping[str, object]) -> None:
    """Say that a shard is whole; its files are there by now."""
    data = {
        "readings": [key.as_dict() for key in shard.readings],
        "definitions": definitions,
        "shard": shard.as_dict(shard.readings),
    }
    with replacing_bytes(folder / FOLDER / f"{shard.number:05d}.json", shared=True, synced=True) as out:
        out.write(canonical_json(data).encode())


def read_markers(folder: Path, wrong: Callable[[Shard], str] | None = None) -> Index:
    """The shards that have a marker and are as large as it says, in order; others count as not written.

    `wrong` says what is wrong with a shard's files where they do not all lie in the folder.
    """
    found: list[Shard] = []
    definitions: dict[str, dict[str, Any]] = {}
    for number in markers(folder):
        try:
            data = json.loads((folder / FOLDER / f"{number:05d}.json").read_bytes())
            readings = [ReadingKey.from_dict(row) for row in data["readings"]]
            shard = Shard.from_dict(data["shard"], readings)
            own = {str(key): dict(facts) for key, facts in data["definitions"].items()}
        except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            continue
        if shard.number == number and not (wrong(shard) if wrong else fault(folder, shard)):
            found.append(shard)
            definitions |= own
    return Index(tuple(found), definitions)


def markers(folder: Path) -> list[int]:
    """The numbers of the shards that have a marker."""
    try:
        names = os.listdir(folder / FOLDER)
    except FileNotFoundError:
        return []
    return sorted(int(match[1]) for name in names if (match := _MARKER.fullmatch(name)))


def fault(folder: Path, shard: Shard, *, elsewhere: Mapping[str, int] | None = None, url: str = "") -> str:
    """What is wrong with a shard's files in a run's folder, told by their sizes; "" where nothing is.

    `elsewhere` has the sizes of files that lie at the address `url` and not here.
    """
    place = url or str(folder)
    for name, wanted in ((shard.name, shard.bytes), (shard.series_name, shard.series_bytes)):
        here = folder / name
        there = here.stat().st_size if here.exists() else (elsewhere or {}).get(name)
        if wanted and there is None:
            return f"{place}/{name}: is missing"
        if wanted and there != wanted:
            return f"{place}/{name}: is truncated or changed ({there:,} bytes, {wanted:,} were written)"
    return ""


def shard_fault(folder: Path, shard: Shard) -> str:
    """The same, told by the digests of the files as well: each is read once."""
    if wrong := fault(folder, shard):
        return wrong
    for name, wanted in ((shard.name, shard.sha256), (shard.series_name, shard.series_sha256)):
        if wanted and file_digest(folder / name) != wanted:
            return f"{folder}/{name}: changed after it was written"
    return ""


def require_whole(folder: Path, shards: Iterable[Shard]) -> None:
    """Raise `RunError` for the first shard that is missing or cut."""
    for shard in shards:
        if wrong := fault(folder, shard):
            raise RunError(f"{wrong}; the same command measures its {shard.rows:,} clips again")


def require_pyarrow() -> None:
    """Raise `MissingDependency` where Parquet cannot be read or written."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise not_installed("a run in shards needs pyarrow", extra="query")
