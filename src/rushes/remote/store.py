"""Objects in S3 and Google Cloud Storage: addresses, listings, local copies, uploads.

An address (`s3://bucket/key`, `gs://bucket/key`) is text, never a `Path`, which would take one of its slashes away.
Local files do not pass through here. fsspec and the store's client are imported when the first address is used.

What identifies an object's content without reading it is its size and its `version`: S3's ETag, Google's MD5 (or the
generation, where an object has no MD5). A copy is only handed out when the store names the same version before and
after it was made.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias, TypeVar

from rushes.core.files import take_lock
from rushes.errors import MissingDependency, RushesError
from rushes.remote.errors import Exists, RemoteError, Unreachable, Vanished, plain_errors

__all__ = [
    "Copy",
    "Listing",
    "Place",
    "RemoteError",
    "RemoteFile",
    "Unreachable",
    "Vanished",
    "attempted",
    "checked",
    "upload_on_exit",
    "local_copy",
    "filesystem",
    "get_bytes",
    "get_files",
    "is_remote",
    "joined",
    "cached_copy",
    "local_only",
    "list_objects",
    "put_bytes",
    "put_file",
    "put_files",
    "remove",
    "safe_name",
    "stat",
]

PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs"}
"""The addresses that are understood, and the package each needs. Nothing else fsspec knows is reachable."""
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
_PREFIX = "rushes-remote-"
_Answer = TypeVar("_Answer")


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
    near: str = field(default="", compare=False)
    """A copy that somebody on this machine keeps, see `kept_near`."""

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


@dataclass(frozen=True, slots=True)
class Listing:
    """What an address stands for."""

    kind: Literal["object", "folder", "pattern"]
    files: tuple[RemoteFile, ...]


def is_remote(given: object) -> bool:
    """Whether this is an address rather than a path; `checked` says whether it is one that is understood.

    >>> is_remote("s3://takes/a.mp4"), is_remote("http://x/y"), is_remote("takes/a.mp4"), is_remote(Path("a.mp4"))
    (True, True, False, False)
    """
    return isinstance(given, RemoteFile) or (isinstance(given, str) and bool(re.match(r"[A-Za-z][\w+.-]*://", given)))


def checked(url: str) -> tuple[str, str, str]:
    """Protocol, bucket and key of an address; `RemoteError` for one that is not understood, or that holds a secret.

    >>> checked("s3://takes/monday/a.mp4")
    ('s3', 'takes', 'monday/a.mp4')
    """
    protocol, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if protocol.lower() not in PACKAGES:
        known = ", ".join(f"{name}://" for name in PACKAGES)
        raise RemoteError(f"{protocol}://…: expected a path or an address that begins with {known}")
    if "@" in bucket:
        raise RemoteError(
            f"{protocol}://…@{bucket.rsplit('@', 1)[1]}/…: an address must hold no user name or key; "
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


def filesystem(url: str) -> Any:
    """fsspec's file system for an address, which never answers from a listing it remembers."""
    protocol = checked(url)[0]
    for package in ("fsspec", PACKAGES[protocol]):
        if find_spec(package) is None:
            raise MissingDependency(f"{protocol}:// addresses need {package}: pip install 'rushes[remote]'")
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
    protocol, bucket, key = checked(url)
    store = filesystem(url)
    fixed = key[: found.start()].rpartition("/")[0] if (found := _MAGIC.search(key)) else key.rstrip("/")
    with plain_errors(url):
        if found:
            kind, infos = "pattern", _found(store.glob, f"{bucket}/{key}")
        elif key and not key.endswith("/") and (info := _info(store, url))["type"] == "file":
            kind, infos = "object", {info["name"]: info}
        else:
            kind, infos = "folder", _found(store.find, f"{bucket}/{fixed}/" if fixed else bucket)
    files = [_file(protocol, info) for info in infos.values() if info["type"] == "file" and info["name"][-1] != "/"]
    below = len(f"{protocol}://{bucket}/{fixed}".rstrip("/")) + 1
    seen = [file for file in files if hidden or kind == "object" or not re.search(r"(^|/)\.", file.url[below:])]
    if not infos:
        _require_bucket(store, url, bucket)
    return Listing(kind, tuple(sorted(seen, key=lambda file: file.url)))  # type: ignore[arg-type]


def _found(search: Callable[..., Any], path: str) -> dict[str, dict[str, Any]]:
    try:
        return dict(search(path, detail=True))
    except FileNotFoundError:
        return {}


def stat(url: str) -> RemoteFile:
    """What the store says about one object, asked now."""
    protocol, bucket, key = checked(url)
    if not key or key.endswith("/"):
        raise RemoteError(f"{url}: expected the address of one object; this one names a folder")
    store = filesystem(url)
    with plain_errors(url):
        info = _info(store, url)
    if info["type"] != "file":
        raise Vanished(f"{url}: there is no such object")
    return replace(_file(protocol, info), url=url)


def _info(store: Any, url: str) -> dict[str, Any]:
    _, bucket, key = checked(url)
    try:
        return dict(store.info(f"{bucket}/{key}"))
    except FileNotFoundError:
        _require_bucket(store, url, bucket)
        raise Vanished(f"{url}: there is no such object") from None


def _require_bucket(store: Any, url: str, bucket: str) -> None:
    with plain_errors(url):
        try:
            store.info(bucket)
        except FileNotFoundError:
            raise Vanished(f"{url}: there is no bucket {bucket!r}") from None


def _file(protocol: str, info: dict[str, Any]) -> RemoteFile:
    version = info.get("ETag") or info.get("md5Hash") or info.get("generation") or info.get("etag") or ""
    return RemoteFile(f"{protocol}://{info['name']}", int(info.get("size") or 0), str(version).strip('"'))


@dataclass(frozen=True, slots=True)
class Copy:
    """A file at hand, and the object it is a copy of; None for a file that was here all along."""

    path: Path
    file: RemoteFile | None = None


@contextmanager
def local_copy(place: Place | str) -> Iterator[Copy]:
    """A file at hand: a local one as it is, an object as a copy in a temporary folder that goes away afterwards.

    A `RemoteFile` gives the very version that was listed, or `Vanished`; an address gives what is there now. Raises
    `Unreachable` when the store does not answer after `ATTEMPTS` attempts. An error that leaves the block and names the
    copy is made to name the object.
    """
    if isinstance(place, Path) or not is_remote(place):
        yield Copy(Path(str(place)))
    elif isinstance(place, RemoteFile) and place.near and Path(place.near).is_file():
        yield Copy(Path(place.near), place)
    else:
        with _folder() as folder:
            local = folder / safe_name(str(place))
            file = _download(place, local)
            try:
                yield Copy(local, file)
            except RushesError as error:
                error.args = (str(error).replace(str(local), str(place)),)  # whoever reads it knows the address
                raise


@contextmanager
def cached_copy(place: Place) -> Iterator[Place]:
    """The same file, with a copy on this machine for as long as the block runs: for what many tasks read."""
    if isinstance(place, Path):
        yield place
        return
    with local_copy(place) as copy:
        yield replace(place, near=str(copy.path))


@contextmanager
def upload_on_exit(target: Path | str) -> Iterator[Path]:
    """Where to write a file that is meant for `target`: there, or in a temporary folder and uploaded afterwards."""
    if not is_remote(target):
        yield Path(target)
        return
    _, _, key = checked(str(target))
    if not key or key.endswith("/"):
        raise RemoteError(f"{target}: expected the address of a file to write; this one names a folder")
    filesystem(str(target))  # a missing package shows before the work
    with _folder() as folder:
        local = folder / safe_name(str(target))
        yield local
        put_file(local, str(target))


def put_file(local: Path, url: str) -> None:
    """Upload a file, whole or not at all."""
    store, (_, bucket, key) = filesystem(url), checked(url)
    attempted(url, lambda: store.put_file(str(local), f"{bucket}/{key}"))


def put_bytes(data: bytes, url: str, *, create: bool = False) -> bool:
    """Write an object; with `create` only where there is none yet, and False where there is."""
    store, (_, bucket, key) = filesystem(url), checked(url)
    try:
        mode = {"mode": "create"} if create else {}
        attempted(url, lambda: store.pipe_file(f"{bucket}/{key}", data, **mode))
    except Exists:
        return False
    return True


def get_bytes(url: str) -> bytes:
    """An object's bytes, for the small ones."""
    store, (_, bucket, key) = filesystem(url), checked(url)
    return bytes(attempted(url, lambda: store.cat_file(f"{bucket}/{key}")))


def remove(urls: Sequence[str]) -> None:
    """Remove objects; those that are gone already are no error."""
    for url in urls:
        _remove(url)


def _remove(url: str) -> None:
    store, (_, bucket, key) = filesystem(url), checked(url)
    with suppress(Vanished):
        attempted(url, lambda: store.rm_file(f"{bucket}/{key}"))


def put_files(files: Sequence[tuple[Path, str]]) -> None:
    """Upload many small files, several at a time."""
    if files:
        url = files[0][1]
        store, there = filesystem(url), [_path(address) for _, address in files]
        attempted(url, lambda: store.put([str(local) for local, _ in files], there))


def get_files(files: Sequence[tuple[str, Path]]) -> None:
    """Fetch many small objects to where they are wanted, several at a time."""
    if files:
        for _, local in files:
            local.parent.mkdir(parents=True, exist_ok=True)
        url = files[0][0]
        store, there = filesystem(url), [_path(address) for address, _ in files]
        attempted(url, lambda: store.get(there, [str(local) for _, local in files]))


def _path(url: str) -> str:
    _, bucket, key = checked(url)
    return f"{bucket}/{key}"


def safe_name(url: str) -> str:
    """A file name for a copy: the object's own where it is harmless, so that suffix and messages stay readable.

    >>> safe_name("s3://b/takes/take 1.mp4"), safe_name("s3://b/x/..")
    ('take_1.mp4', 'object')
    """
    return re.sub(r"[^\w.-]", "_", url.rsplit("/", 1)[-1]).lstrip(".-")[-80:] or "object"


def _download(place: RemoteFile | str, local: Path) -> RemoteFile:
    url = str(place)
    store = filesystem(url)
    path = url.partition("://")[2]
    before = place if isinstance(place, RemoteFile) else attempted(url, lambda: stat(url))
    for _ in range(ATTEMPTS):
        _require_room(before, local.parent)
        attempted(url, lambda: store.get_file(path, str(local)))
        after = attempted(url, lambda: _file(url.partition("://")[0], store.info(path)))
        if after.facts() == before.facts() and local.stat().st_size == before.size:
            return replace(after, url=url)
        if isinstance(place, RemoteFile):
            raise Vanished(f"{url}: changed since it was listed; run the command again")
        before = after
    raise Unreachable(f"{url}: changes while it is read; run the command again when it is written")


def _require_room(file: RemoteFile, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if file.size > free:
        raise RemoteError(
            f"{file}: has {file.size / 1e9:.1f} GB, more than the {free / 1e9:.1f} GB free in {folder.parent}; "
            "point TMPDIR at a larger disk"
        )


def attempted(url: str, action: Callable[[], _Answer]) -> _Answer:
    """What the action gives, tried again while the store does not answer; its errors in one line each."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S * 2 ** (attempt - 1))
        try:
            with plain_errors(url):
                return action()
        except Unreachable:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder, locked while its owner lives, so that what a killed process left can be told and removed."""
    _remove_left_behind()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        with take_lock(folder / ".taking", wait=True):
            os.rename(folder / ".taking", folder / ".lock")  # so that a `.lock` nobody holds is always a dead owner's
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_behind() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), take_lock(folder / ".lock", create=False):
            shutil.rmtree(folder, ignore_errors=True)  # which does not follow links
