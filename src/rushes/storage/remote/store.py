"""Objects in S3 and Google Cloud Storage: listings, and reads and writes that are tried again.

fsspec and the store's client are imported when the first address is used.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

from rushes.core.machine.installing import not_installed
from rushes.storage.remote.address import PACKAGES, RemoteFile, parse_address
from rushes.storage.remote.errors import Exists, RemoteError, Unreachable, Vanished, plain_errors

_OPTIONS: dict[str, dict[str, object]] = {
    "s3": {"config_kwargs": {"retries": {"max_attempts": 2}, "connect_timeout": 5, "read_timeout": 60}}
}
_S3_RETRIES = 2
"""Of s3fs, around botocore's own and below `ATTEMPTS`: a host that swallows everything costs a minute or two."""
ATTEMPTS = 3
"""How often a copy is tried while the store does not answer, on top of what its client tries."""
PAUSE_S = 0.5
"""Before the second attempt; doubled each time."""
_MAGIC = re.compile(r"[*?\[]")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Listing:
    """What an address stands for."""

    kind: Literal["object", "folder", "pattern"]
    files: tuple[RemoteFile, ...]


def filesystem(url: str) -> Any:
    """fsspec's file system for an address, which never answers from a listing it remembers."""
    protocol = parse_address(url)[0]
    for package in ("fsspec", PACKAGES[protocol]):
        if find_spec(package) is None:
            raise not_installed(f"{protocol}:// addresses need {package}", extra="remote")
    with plain_errors(url):
        return _client(protocol, os.getpid())


@lru_cache
def _client(protocol: str, process: int) -> Any:
    """One client for all threads of a process (fsspec makes one for each): making one takes a third of a second."""
    if protocol != "s3":
        # Google's plain client: the other one asks for each bucket's type first, and complains where it may not know.
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    options = _OPTIONS.get(protocol, {})
    client = import_module("fsspec").filesystem(protocol, use_listings_cache=False, skip_instance_cache=True, **options)
    if protocol == "s3":
        client.retries = _S3_RETRIES
    return client


def list_objects(url: str, *, hidden: bool = False) -> Listing:
    """The objects an address stands for, in the order of their keys: a folder's, a pattern's, or the one.

    Hidden names (`.name`) below a folder or a pattern's fixed part are passed over unless `hidden` asks for them. A
    folder or pattern may be empty; an address under which there is nothing at all is `Vanished`.
    """
    protocol, bucket, key = parse_address(url)
    store = filesystem(url)
    fixed = key[: found.start()].rpartition("/")[0] if (found := _MAGIC.search(key)) else key.rstrip("/")
    with plain_errors(url):
        if found:
            kind, infos = "pattern", _infos(store.glob, f"{bucket}/{key}")
        elif key and not key.endswith("/") and (info := _info(store, url))["type"] == "file":
            kind, infos = "object", {info["name"]: info}
        else:
            kind, infos = "folder", _infos(store.find, f"{bucket}/{fixed}/" if fixed else bucket)
    files = [file_of(protocol, info) for info in infos.values() if info["type"] == "file" and info["name"][-1] != "/"]
    below = len(f"{protocol}://{bucket}/{fixed}".rstrip("/")) + 1
    seen = [file for file in files if hidden or kind == "object" or not re.search(r"(^|/)\.", file.url[below:])]
    if not infos:
        _require_bucket(store, url, bucket)
    return Listing(kind, tuple(sorted(seen, key=lambda file: file.url)))  # type: ignore[arg-type]


def _infos(search: Callable[..., Any], path: str) -> dict[str, dict[str, Any]]:
    try:
        return dict(search(path, detail=True))
    except FileNotFoundError:
        return {}


def stat(url: str) -> RemoteFile:
    """What the store says about one object, asked now."""
    protocol, bucket, key = parse_address(url)
    if not key or key.endswith("/"):
        raise RemoteError(f"{url}: expected the address of one object; this one names a folder")
    store = filesystem(url)
    with plain_errors(url):
        info = _info(store, url)
    if info["type"] != "file":
        raise Vanished(f"{url}: no such object")
    return replace(file_of(protocol, info), url=url)


def _info(store: Any, url: str) -> dict[str, Any]:
    _, bucket, key = parse_address(url)
    try:
        return dict(store.info(f"{bucket}/{key}"))
    except FileNotFoundError:
        _require_bucket(store, url, bucket)
        raise Vanished(f"{url}: no such object") from None


def _require_bucket(store: Any, url: str, bucket: str) -> None:
    with plain_errors(url):
        try:
            store.info(bucket)
        except FileNotFoundError:
            raise Vanished(f"{url}: no bucket {bucket!r}") from None


def file_of(protocol: str, info: dict[str, Any]) -> RemoteFile:
    version = info.get("ETag") or info.get("md5Hash") or info.get("generation") or info.get("etag") or ""
    return RemoteFile(f"{protocol}://{info['name']}", int(info.get("size") or 0), str(version).strip('"'))


def put_file(local: Path, url: str) -> None:
    """Upload a file, whole or not at all."""
    with_retries(url, lambda: filesystem(url).put_file(str(local), object_path(url)))


def put_bytes(data: bytes, url: str, *, create: bool = False) -> bool:
    """Write an object; with `create` only where there is none yet, and False where there is."""
    mode = {"mode": "create"} if create else {}
    try:
        with_retries(url, lambda: filesystem(url).pipe_file(object_path(url), data, **mode))
    except Exists:
        return False
    return True


def get_bytes(url: str, *, start: int | None = None, end: int | None = None) -> bytes:
    """An object's bytes, for the small ones, or those from `start` to before `end`."""
    return bytes(with_retries(url, lambda: filesystem(url).cat_file(object_path(url), start=start, end=end)))


def remove(urls: Sequence[str]) -> None:
    """Remove objects; those that are gone already are no error."""
    for url in urls:
        with suppress(Vanished):
            with_retries(url, partial(filesystem(url).rm_file, object_path(url)))


def put_files(files: Sequence[tuple[Path, str]]) -> None:
    """Upload many small files, several at a time."""
    if files:
        url = files[0][1]
        store, paths = filesystem(url), [object_path(address) for _, address in files]
        with_retries(url, lambda: store.put([str(local) for local, _ in files], paths))


def get_files(files: Sequence[tuple[str, Path]]) -> None:
    """Fetch many small objects to where they are wanted, several at a time."""
    if files:
        for _, local in files:
            local.parent.mkdir(parents=True, exist_ok=True)
        url = files[0][0]
        store, paths = filesystem(url), [object_path(address) for address, _ in files]
        with_retries(url, lambda: store.get(paths, [str(local) for _, local in files]))


def object_path(url: str) -> str:
    """What the store's client calls an object."""
    _, bucket, key = parse_address(url)
    return f"{bucket}/{key}"


def with_retries(url: str, action: Callable[[], _Answer]) -> _Answer:
    """What the action gives, tried again while the store does not answer; its errors in one line each."""
    for attempt in range(1, ATTEMPTS):
        try:
            with plain_errors(url):
                return action()
        except Unreachable:
            time.sleep(PAUSE_S * 2 ** (attempt - 1))
    with plain_errors(url):
        return action()
