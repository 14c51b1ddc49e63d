"""What is finished and not yet in a shard: one file per writer, appended, read back by place.

A spool is a row of records. Each has a head (kind, two lengths, a checksum), then the entry's line as `packing.pack`
makes it, then its series. A definition is a record of its own, before its first use in the file. What follows a record
that is cut or damaged is not read: its clips are measured again. A writer begins a new file after `RECORDS` entries, so
that a file whose entries are all in shards can go.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rushes.core.errors import RunError
from rushes.storage.runs.packing import Packed

FOLDER = "spool"
RECORDS = 2000
"""Entries in one file."""
_HEAD = struct.Struct("<4sIII")
_ENTRY, _DEFINITION = b"take", b"defn"
_NAME = re.compile(r"(\d{6})-([0-9a-z]+)-(\d{6})\.spool")
SESSION = f"{FOLDER}/session"
"""The file by which a worker tells that the folder it sees is the run's."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where one finished entry lies: a spool, the start of its line, and the lengths of line and series."""

    spool: str
    start: int
    line: int
    series: int

    @property
    def session(self) -> int:
        return int(self.spool[:6])

    def read(self, folder: Path) -> tuple[bytes, bytes | None]:
        """The line and the series; `RunError` where the file is gone or shorter."""
        try:
            with open(folder / FOLDER / self.spool, "rb") as file:
                data = os.pread(file.fileno(), self.line + self.series, self.start)
        except FileNotFoundError:
            data = b""
        if len(data) != self.line + self.series:
            raise RunError(f"{folder / FOLDER / self.spool}: is truncated; run the same command again")
        return data[: self.line], data[self.line :] or None


@dataclass(frozen=True, slots=True)
class Stored:
    """What a worker says about an entry that it has written itself: all that passes through the driver."""

    subject_id: str
    span: Span
    definitions: tuple[tuple[str, bytes], ...] = ()
    """Those that the writer met for the first time."""


@dataclass(frozen=True, slots=True)
class SpoolPlace:
    """Where workers put what they finish: the run's folder, in this session."""

    folder: str
    session: int
    token: str


class SpoolWriter:
    """Appends entries to spools of its own; `writer` names them and sorts among those of the session."""

    def __init__(self, folder: Path, session: int, writer: str) -> None:
        self._folder, self._session, self._writer = folder / FOLDER, session, writer
        self._file: IO[bytes] | None = None
        self._name, self._number, self._entries, self._place = "", 0, 0, 0
        self._known: set[str] = set()
        self._told: set[str] = set()

    def store(self, packed: Packed) -> Stored:
        """Append one entry, and say where it is and which definitions are new to this writer.

        When this returns, the end of this process does not lose it.
        """
        file, series = self._open(), packed.series or b""
        here = dict(packed.definitions)
        head = b"".join(_record(_DEFINITION, line, b"") for name, line in here.items() if name not in self._known)
        file.write(head + _record(_ENTRY, packed.line, series))
        file.flush()
        start = self._place + len(head) + _HEAD.size
        self._place = start + len(packed.line) + len(series)
        self._entries += 1
        new = tuple((name, line) for name, line in here.items() if name not in self._told)
        self._known |= here.keys()
        self._told |= here.keys()
        return Stored(packed.subject_id, Span(self._name, start, len(packed.line), len(series)), new)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> IO[bytes]:
        if self._file is None or self._entries >= RECORDS:
            self.close()
            self._number += 1
            self._name = f"{self._session:06d}-{self._writer}-{self._number:06d}.spool"
            self._file = open(self._folder / self._name, "xb")
            self._entries, self._place, self._known = 0, 0, set()
        return self._file


_writers: dict[SpoolPlace, SpoolWriter | None] = {}
"""This process's spool of each run; None where the run's folder is not to be seen from here."""


def keep(packed: Packed, place: SpoolPlace | None) -> Packed | Stored:
    """Store an entry where it was made, if the run's folder is to be seen from here; else it travels to the driver."""
    if place is None:
        return packed
    if place not in _writers:
        folder = Path(place.folder)
        seen = token_in(folder / SESSION) == place.token
        _writers[place] = SpoolWriter(folder, place.session, secrets.token_hex(4)) if seen else None
    writer = _writers[place]
    if writer is None:
        return packed
    try:
        return writer.store(packed)
    except OSError:  # a full disk, a share that went away: the driver tries, and says so in its own words
        _writers[place] = None
        return packed


def let_go(place: SpoolPlace) -> None:
    """Close this process's own spool of a run; there is one where the driver did the work itself."""
    writer = _writers.pop(place, None)
    if writer is not None:
        writer.close()


def new_session(folder: Path) -> SpoolPlace:
    """Begin a session: the next number, and a token that workers look for."""
    (folder / FOLDER).mkdir(exist_ok=True)
    last = max((int(match[1]) for name in os.listdir(folder / FOLDER) if (match := _NAME.fullmatch(name))), default=0)
    token = secrets.token_hex(8)
    (folder / SESSION).write_text(token, encoding="ascii")
    return SpoolPlace(str(folder.absolute()), last + 1, token)


def token_in(file: Path) -> str:
    """The token of a session that a file holds; "" where there is none."""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


def read_spools(folder: Path) -> Iterator[tuple[Span, str] | dict[str, object]]:
    """Every whole record, files in the order of their names: (place, line) of an entry, or a definition's facts."""
    try:
        names = sorted(name for name in os.listdir(folder / FOLDER) if _NAME.fullmatch(name))
    except FileNotFoundError:
        return
    for name in names:
        data, place = (folder / FOLDER / name).read_bytes(), 0
        while place + _HEAD.size <= len(data):
            kind, line, series, check = _HEAD.unpack_from(data, place)
            start = place + _HEAD.size
            place = start + line + series
            if place > len(data) or zlib.crc32(data[start:place]) != check:
                break
            text = data[start : start + line].decode()
            if kind == _DEFINITION:
                yield dict(json.loads(text)["definition"])
            else:
                yield Span(name, start, line, series), text


def _record(kind: bytes, line: bytes, series: bytes) -> bytes:
    return _HEAD.pack(kind, len(line), len(series), zlib.crc32(line + series)) + line + series
