"""A run that lies in a store, brought here: its few files, and the journal that its writer pushed in pieces.

A store can neither append nor rename, so the journal of a run under way is `journal/SESSION-OFFSET.jsonl`: each session
that writes the run begins with a piece at offset 0 that holds everything so far and goes on with what was added. The
pieces of the last session that has a first piece, one after the other, are the journal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rushes.core.canonical import json_object
from rushes.core.errors import RunError
from rushes.storage.remote.address import is_remote, joined, parse_address
from rushes.storage.remote.errors import Vanished
from rushes.storage.remote.store import get_bytes, get_files, list_objects

RUN_FILES = ("run.json", "subjects.jsonl", "measurements.jsonl")
FEATURES = ".features"
"""Where `rushes fvd` keeps what it has computed until the run is complete."""
_PIECE = re.compile(r"journal/(\d{6})-(\d{16})\.jsonl")
_ATTEMPTS = 3


def run_address(url: str) -> str:
    """The address of a run, checked to name a folder in a bucket and not the bucket itself."""
    if not parse_address(url)[2].strip("/"):
        raise RunError(f"{url}: expected s3://bucket/folder for a run; the folder is missing")
    return url.rstrip("/")


def listed(url: str) -> dict[str, int]:
    """Every object below an address, hidden ones too, with its size; refuses names that lead elsewhere as a path."""
    sizes = {file.url[len(url) + 1 :]: file.size for file in list_objects(f"{url}/", hidden=True).files}
    for name in sizes:
        if any(part in ("", ".", "..") for part in name.split("/")) or re.search(r"[\\\x00-\x1f]", name):
            raise RunError(f"{url}: contains {name!r}, which Rushes did not write; remove it")
    return sizes


def session_of(name: str) -> int:
    """The session that wrote a piece of the journal; 0 for anything else."""
    match = _PIECE.fullmatch(name)
    return int(match[1]) if match else 0


def pieces(names: Collection[str]) -> list[str]:
    """The pieces of the journal in order, of the last session that has a first one.

    >>> pieces(["run.json", "journal/000001-0000000000000000.jsonl", "journal/000002-0000000000000007.jsonl"])
    ['journal/000001-0000000000000000.jsonl']
    """
    begun = max((session_of(name) for name in names if name.endswith("-0000000000000000.jsonl")), default=0)
    return sorted(name for name in names if begun and session_of(name) == begun)


def piece_name(session: int, offset: int) -> str:
    return f"journal/{session:06d}-{offset:016d}.jsonl"


def pull_run(url: str, folder: Path) -> dict[str, int]:
    """Bring a run's files and journal into an empty folder, without its series; names and sizes of what is there.

    A run whose `run.json` says it is complete has no journal, whatever a killed writer left of one.
    """
    for _ in range(1, _ATTEMPTS):
        with suppress(Vanished):  # its writer finished just now, and took the journal away
            return _pull(url, folder)
    return _pull(url, folder)


def _pull(url: str, folder: Path) -> dict[str, int]:
    names = listed(url)
    get_files([(joined(url, name), folder / name) for name in RUN_FILES if name in names])
    parts = pieces(names)
    if parts and not is_complete(folder):
        (folder / "journal.jsonl").write_bytes(_joined_pieces(url, parts))
    return names


def _joined_pieces(url: str, parts: Sequence[str]) -> bytes:
    journal = b""
    for name in parts:
        match = _PIECE.fullmatch(name)
        if match is None or int(match[2]) != len(journal):
            break  # what follows a gap cannot be told; its subjects are measured again
        journal += get_bytes(joined(url, name))
    return journal


def is_complete(folder: Path) -> bool:
    """Whether a folder's `run.json` says that the run is complete."""
    return read_info(folder).get("status") == "complete"


def read_info(place: Path | str) -> dict[str, Any]:
    """`run.json` in a folder or at an address; {} where there is none, or something else."""
    try:
        if is_remote(place):
            return json_object(get_bytes(joined(run_address(str(place)), "run.json")))
        return json_object((Path(place) / "run.json").read_bytes())
    except (OSError, Vanished):
        return {}
