"""What lies below a folder: runs, boards, sweeps and study databases, found quickly and found again when they change.

A folder is listed once and again only when its own date changes: a new or removed entry changes it. So a page may ask
each time it is opened, and a run that appears meanwhile is on the next one.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["runs", "suites", "sweeps", "studies"]

MARKS: Mapping[str, Kind] = {"run.json": "runs", "suite.json": "suites", "sweep_manifest.json": "sweeps"}
"""The file that makes a folder what it is. A run and a sweep are whole: nothing is looked for inside them."""
_DATABASES = (".db", ".sqlite", ".sqlite3")
_SQLITE = b"SQLite format 3\0"
_SKIPPED = frozenset({"series", "media", "features", "node_modules", "site-packages", "venv", "__pycache__"})
MOST_FOLDERS = 20_000
"""Folders that are looked into, nearest first."""
EVERY_S = 1.0
"""How often the folders are looked at again, at most."""
_FRESH_NS = 2_000_000_000
"""A folder that changed this shortly before it was listed is listed again: its date may not show the next change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What was found, by name: its path below the folder that was given, "demo/clip"."""

    runs: Mapping[str, Path] = field(default_factory=dict)
    suites: Mapping[str, Path] = field(default_factory=dict)
    sweeps: Mapping[str, Path] = field(default_factory=dict)
    studies: Mapping[str, Path] = field(default_factory=dict)
    """Files that hold a SQLite database; whether there is a study in it is found out when it is shown."""
    note: str = ""
    """What was left out, in one sentence."""

    def __bool__(self) -> bool:
        return bool(self.runs or self.suites or self.sweeps or self.studies)


@dataclass(frozen=True, kw_only=True, slots=True)
class Root:
    """A folder to look below; `prefix` stands before the names of what is found there."""

    folder: Path
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class _Listing:
    """One folder as it was when its date was this."""

    stamp: int
    settled: bool
    kinds: tuple[Kind, ...]
    folders: tuple[str, ...]
    databases: tuple[str, ...]


class Discovery:
    """Looks below some folders, and again when asked after a while. Safe to share between threads."""

    def __init__(self, roots: Sequence[Root], *, most_folders: int = MOST_FOLDERS, every_s: float = EVERY_S) -> None:
        self.roots = tuple(roots)
        self._most, self._every_s = most_folders, every_s
        self._listings: dict[str, _Listing] = {}
        self._found = Found()
        self._next = float("-inf")
        self._lock = threading.Lock()

    def look(self) -> Found:
        """What is there now, at most `every_s` seconds old."""
        with self._lock:
            if time.monotonic() >= self._next:
                self._found = self._search()
                self._next = time.monotonic() + self._every_s
            return self._found

    def _search(self) -> Found:
        named: dict[Kind, dict[str, Path]] = {"runs": {}, "suites": {}, "sweeps": {}, "studies": {}}
        seen: set[tuple[int, int]] = set()
        listings: dict[str, _Listing] = {}
        left_out = ""
        waiting = deque((root, str(root.folder), "") for root in self.roots)
        while waiting:
            root, folder, below = waiting.popleft()
            if len(seen) >= self._most:
                left_out = f"Only the first {self._most:,} folders were looked at; open a smaller one to see the rest."
                break
            listing = self._listing(folder, seen)
            if listing is None:
                continue
            listings[folder] = listing
            for kind in listing.kinds:
                put_new(named[kind], _name(root, below), Path(folder))
            for file in listing.databases:
                put_new(named["studies"], _name(root, f"{below}/{file}"), Path(folder, file))
            if "runs" not in listing.kinds and "sweeps" not in listing.kinds:
                waiting.extend((root, os.path.join(folder, name), f"{below}/{name}") for name in listing.folders)
        self._listings = listings
        in_order = {kind: {name: found[name] for name in sorted(found, key=_natural)} for kind, found in named.items()}
        return Found(**in_order, note=left_out)

    def _listing(self, folder: str, seen: set[tuple[int, int]]) -> _Listing | None:
        """The folder's entries; None where it cannot be read, or was met before by another way (a link)."""
        try:
            stat = os.stat(folder)
        except OSError:
            return None
        place = (stat.st_dev, stat.st_ino)
        if place in seen:
            return None
        seen.add(place)
        known = self._listings.get(folder)
        if known is not None and known.settled and known.stamp == stat.st_mtime_ns:
            return known
        return _list(folder, stat.st_mtime_ns)


def _list(folder: str, stamp: int) -> _Listing | None:
    kinds: list[Kind] = []
    folders: list[str] = []
    databases: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name in MARKS:
                    kinds.append(MARKS[name])
                elif name.endswith(_DATABASES) and _is_sqlite(entry.path):
                    databases.append(name)
                elif _is_looked_into(name) and _is_folder(entry):
                    folders.append(name)
    except OSError:
        return None
    settled = time.time_ns() - stamp > _FRESH_NS
    return _Listing(stamp, settled, tuple(sorted(kinds)), tuple(sorted(folders)), tuple(sorted(databases)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link that leads to itself is none, and no reason to lose what lies beside it."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_looked_into(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED and not name.endswith(".media")


def _is_sqlite(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _name(root: Root, below: str) -> str:
    parts = [part for part in (root.prefix, below.strip("/")) if part]
    # What would end or change an address goes, and bytes that are no UTF-8: a name is for reading. The folder stays.
    return re.sub(r"[?#%&\\\s\x00-\x1f\ud800-\udfff]+", "_", "/".join(parts) or root.folder.resolve().name or "here")


def shown_path(path: Path) -> str:
    """A path for people to read: bytes that are no UTF-8, which no page can hold, have a mark in their place."""
    return str(path).encode(errors="replace").decode()


def put_new(found: dict[str, Path], name: str, path: Path) -> None:
    """Under this name, or the first of name-2, name-3 … that is free."""
    candidate, number = name, 1
    while candidate in found:
        number += 1
        candidate = f"{name}-{number}"
    found[candidate] = path


def _natural(name: str) -> list[tuple[int, str]]:
    """Numbers by size: run9 before run10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part]


class Served(Mapping[str, Path]):
    """Folders by name, as they are found each time one is asked for."""

    def __init__(self, discovery: Discovery, kind: Literal["runs", "suites"]) -> None:
        self._discovery, self._kind = discovery, kind

    def _now(self) -> Mapping[str, Path]:
        found: Mapping[str, Path] = getattr(self._discovery.look(), self._kind)
        return found

    def __getitem__(self, name: str) -> Path:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


def split_subject(names: Mapping[str, Path], text: str) -> tuple[str, str]:
    """RUN/SUBJECT as the name of a served run, the longest that fits, and the subject; cut at the first slash where no
    run has such a name.

    >>> split_subject({"demo": Path(), "demo/clip": Path()}, "demo/clip/take_1"), split_subject({}, "other/a")
    (('demo/clip', 'take_1'), ('other', 'a'))
    """
    fitting = [name for name in names if text.startswith(f"{name}/")]
    name = max(fitting, key=len, default=text.partition("/")[0])
    return name, text[len(name) + 1 :]


def run_title(name: str, folder: str = "") -> str:
    """What a page calls a run: a folder named "run" says nothing, so the one that it lies in is named instead.

    >>> run_title("distribution/run"), run_title("run-2", "demo/pose/run"), run_title("demo/clip"), run_title("run")
    ('distribution', 'pose', 'demo/clip', 'run')
    """
    above, _, last = name.rpartition("/")
    if above:
        return above if last == "run" else name
    inside = Path(folder)
    return inside.parent.name or name if inside.name == "run" and re.fullmatch(r"run(-\d+)?", name) else name


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Systems by the parts of their paths that differ, for heads of columns; whole where they would be alike.

    >>> short_names(["out/fetv/cogvideo/clip", "out/fetv/zero/clip"]), short_names(["a", "b/c"])
    ({'out/fetv/cogvideo/clip': 'cogvideo', 'out/fetv/zero/clip': 'zero'}, {'a': 'a', 'b/c': 'b/c'})
    """
    parts = [name.split("/") for name in names]
    least = range(min(map(len, parts), default=0))
    start = next((n for n in least if len({one[n] for one in parts}) > 1), 0)
    end = next((n for n in least if len({one[-1 - n] for one in parts}) > 1), 0)
    short = ["/".join(one[start : len(one) - end]) for one in parts]
    return dict(zip(names, short if all(short) and len(set(short)) == len(names) else names, strict=True))
