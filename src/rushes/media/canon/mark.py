"""The mark by which a canonical form is known: a box at the end of the file that players pass over.

The box (type `uuid`, as ISO/IEC 14496-12 has it for other people's data) holds the version of the form, the rate that
was asked for, and the sha256 of everything before it. A file that was encoded again has lost the box; one that was
changed in any byte, or has the box of another file, does not have that digest: both are ordinary clips. The mark keeps
mistakes out, not forgers: whoever can compute a digest can write one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

VERSION = 2
"""Of the form. 1: always 30 frames a second where nothing else was asked for, and no mark."""
_UUID = UUID("5a1d3f64-9c0e-5b7e-8f52-0d3a7c6e2b91").bytes
_HEAD = 8 + len(_UUID)
_SIZE = 256
"""Bytes of the box, the same for every file, so that it is found from the end."""


@dataclass(frozen=True, slots=True)
class CanonMark:
    """What a canonical form says of itself."""

    fps: Fraction | None = None
    """The rate that was asked for; None for the clip's own."""
    version: int = VERSION

    @property
    def label(self) -> str:
        """How signatures spell a clip in this form.

        >>> CanonMark().label, CanonMark(Fraction(30)).label, CanonMark(Fraction(30000, 1001)).label
        ('canon-2', 'canon-2-30fps', 'canon-2-30000/1001fps')
        """
        return f"canon-{self.version}" + ("" if self.fps is None else f"-{self.fps}fps")


def write_mark(path: Path, mark: CanonMark) -> None:
    """Put the mark at the end of a finished file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    told = {"canon": mark.version, "fps": None if mark.fps is None else str(mark.fps), "sha256": digest}
    body = json.dumps(told).encode().ljust(_SIZE - _HEAD)
    with path.open("ab") as file:
        file.write(_SIZE.to_bytes(4, "big") + b"uuid" + _UUID + body)


def read_mark(path: Path | str) -> CanonMark | None:
    """The mark of a file; None where it has none, or has changed since. Only a file with a mark is read whole."""
    try:
        if not Path(path).is_file():  # a named pipe is not waited for
            return None
        with Path(path).open("rb") as file:
            return _checked(file)
    except (OSError, ValueError):  # ValueError: not JSON, no such rate, or a path that is none
        return None


def _checked(file: BinaryIO) -> CanonMark | None:
    size = file.seek(0, 2) - _SIZE
    if size <= 0:
        return None
    file.seek(size)
    box = file.read(_SIZE)
    if box[:_HEAD] != _SIZE.to_bytes(4, "big") + b"uuid" + _UUID:
        return None
    told = json.loads(box[_HEAD:])
    if not isinstance(told, dict) or told.get("canon") != VERSION or told.get("sha256") != _digest(file, size):
        return None
    fps = told.get("fps")
    return CanonMark(None if fps is None else Fraction(fps))


def _digest(file: BinaryIO, size: int) -> str:
    """sha256 of the first bytes of a file."""
    found, left = hashlib.sha256(), size
    file.seek(0)
    while left and (piece := file.read(min(left, 1 << 20))):
        found.update(piece)
        left -= len(piece)
    return found.hexdigest()
