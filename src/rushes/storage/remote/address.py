"""Addresses of objects in S3 and Google Cloud Storage.

An address (`s3://bucket/key`, `gs://bucket/key`) is text, never a `Path`, which would take one of its slashes away.

What identifies an object's content without reading it is its size and its `version`: S3's ETag, Google's MD5 (or the
generation, where an object has no MD5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from rushes.storage.remote.errors import RemoteError

PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}
"""The addresses that are understood, and the package each needs. Nothing else fsspec knows is reachable."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One object, and what its store says about its content. Reads as its address; has a path's name, stem, suffix.

    >>> file = RemoteFile("s3://takes/monday/a b.MP4", 10, "etag")
    >>> str(file), file.name, file.stem, file.suffix
    ('s3://takes/monday/a b.MP4', 'a b.MP4', 'a b', '.MP4')
    """

    url: str
    size: int
    version: str
    cached_at: str = field(default="", compare=False)
    """A copy that somebody on this machine keeps, see `cached_copy`."""

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    def facts(self) -> dict[str, object]:
        """What tells, without reading it, whether the object is still the same."""
        return {"size": self.size, "version": self.version}


Place: TypeAlias = Path | RemoteFile
"""Where a file is: on this machine, or in a store."""


def is_remote(given: object) -> bool:
    """Whether this is an address rather than a path; `parse_address` says whether it is one that is understood.

    >>> is_remote("s3://takes/a.mp4"), is_remote("http://x/y"), is_remote("takes/a.mp4"), is_remote(Path("a.mp4"))
    (True, True, False, False)
    """
    return isinstance(given, RemoteFile) or (isinstance(given, str) and bool(re.match(r"[A-Za-z][\w+.-]*://", given)))


def parse_address(url: str) -> tuple[str, str, str]:
    """Protocol, bucket and key of an address; `RemoteError` for one that is not understood, or that holds a secret.

    >>> parse_address("s3://takes/monday/a.mp4")
    ('s3', 'takes', 'monday/a.mp4')
    """
    protocol, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if protocol.lower() not in PACKAGES:
        known = ", ".join(f"{name}://" for name in PACKAGES)
        raise RemoteError(f"{protocol}://…: expected a path or an address that begins with {known}")
    if "@" in bucket:
        raise RemoteError(
            f"{protocol}://…@{bucket.rsplit('@', 1)[1]}/…: an address must not contain a user name or key; "
            "credentials come from the environment"
        )
    if re.search(r"\?[^/]*=", rest):
        raise RemoteError(f"{url.partition('?')[0]}?…: expected a plain address; this one carries a query or a token")
    if not re.fullmatch(r"[\w.-]+", bucket, re.ASCII):
        raise RemoteError(f"{url}: expected {protocol}://bucket/key; the bucket is missing or malformed")
    if any(part in (".", "..") for part in key.split("/")) or re.search(r"[\x00-\x1f]", key):
        raise RemoteError(f"{url!r}: expected an address without '.', '..' and control characters")
    return protocol.lower(), bucket, key


def local_only(*given: object) -> None:
    """Refuse addresses where only files of this machine are read or written."""
    for place in given:
        if is_remote(place):
            raise RemoteError(f"{str(place).partition('://')[0]}://…: expected a path; this works on local files only")


def joined(url: str, name: str) -> str:
    """The address of `name` below a folder's address.

    >>> joined("s3://runs/monday/", "run.json")
    's3://runs/monday/run.json'
    """
    return f"{url.rstrip('/')}/{name}"


def safe_name(url: str) -> str:
    """A file name for a copy: the object's own where it is harmless, so that suffix and messages stay readable.

    >>> safe_name("s3://b/takes/take 1.mp4"), safe_name("s3://b/x/..")
    ('take_1.mp4', 'object')
    """
    return re.sub(r"[^\w.-]", "_", url.rsplit("/", 1)[-1]).lstrip(".-")[-80:] or "object"
