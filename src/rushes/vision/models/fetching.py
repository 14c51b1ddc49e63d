"""Getting an archive as it is pinned, from the first place that offers it.

Its address is found on simple index pages (PEP 503 in HTML, PEP 691 in JSON), in folders of files, and in npm's
metadata.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import url2pathname

from rushes.core.errors import WeightsError
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest
from rushes.vision.models.catalogue import Archive
from rushes.vision.models.download import AnotherFile, Client, FetchError, NotThere, shown
from rushes.vision.models.settings import IndexSettings, read_settings

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A file that an index offers."""

    file: str
    url: str
    sha256: str = ""
    """As the index states it; "" where it does not."""


def places(archive: Archive, settings: IndexSettings) -> tuple[str, ...]:
    """Folders and pages that may offer an archive, in the order in which they are asked."""
    if archive.registry == "npm":
        return (f"{settings.npm.rstrip('/')}/{quote(archive.project, safe='@')}/{quote(archive.version)}",)
    name = re.sub(r"[-_.]+", "-", archive.project).lower()
    return (*settings.links, *(f"{index.rstrip('/')}/{name}/" for index in settings.indexes))


def offered(archive: Archive, place: str, client: Client) -> Link:
    """The link to an archive at one place; `NotThere` where it has none, `FetchError` where it cannot be asked."""
    folder = _folder(place)
    if folder is not None and (folder / archive.file).is_file():
        return Link(file=archive.file, url=(folder / archive.file).absolute().as_uri())
    if folder is not None and not (folder / "index.html").is_file():
        raise NotThere(f"{folder} does not have it")
    url = (folder / "index.html").absolute().as_uri() if folder is not None else _address(place)
    content, kind, final = client.page(url, accept=_ACCEPT)
    if archive.registry == "npm":
        return Link(file=archive.file, url=_with_credentials(_tarball(content, shown(place)), place))
    found = next((link for link in links(content, kind, final) if link.file == archive.file), None)
    if found is None:
        raise NotThere(f"{shown(place)} does not list it")
    return replace(found, url=_with_credentials(found.url, place))


def links(content: bytes, kind: str, url: str) -> Iterator[Link]:
    """The files on an index page. A yanked one counts: what is pinned is meant."""
    if kind.endswith("json"):
        try:
            entries = json.loads(content)["files"]
            for entry in entries:
                sha256 = entry.get("hashes", {}).get("sha256", "")
                yield Link(file=entry["filename"], url=urljoin(url, entry["url"]), sha256=sha256)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise FetchError(f"{shown(url)} is not an index page") from None
        return
    page = _Anchors(url)
    page.feed(content.decode("utf-8", errors="replace"))
    for address in page.found:
        parts = urlsplit(address)
        digest = re.search(r"sha256=([0-9a-f]{64})", parts.fragment)
        file = unquote(parts.path.rsplit("/", 1)[-1])
        yield Link(file=file, url=parts._replace(fragment="").geturl(), sha256=digest[1] if digest else "")


class _Anchors(HTMLParser):
    """Collects the addresses of a page's links."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base = url
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if target and tag == "base":
            self._base = urljoin(self._base, target)
        elif target and tag == "a":
            self.found.append(urljoin(self._base, target))


def _folder(place: str) -> Path | None:
    """The local folder that a place names as a path or a file address; None for a page."""
    parts = urlsplit(place)
    path = Path(url2pathname(parts.path)) if parts.scheme == "file" else Path(place).expanduser()
    if parts.scheme == "file" and place.endswith("/"):
        return path
    return path if path.is_dir() else None


def _address(place: str) -> str:
    """A page's address; a local page may be given by its path."""
    return place if urlsplit(place).scheme else Path(place).expanduser().absolute().as_uri()


def _tarball(content: bytes, place: str) -> str:
    try:
        return str(json.loads(content)["dist"]["tarball"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise FetchError(f"{place} is not npm's metadata") from None


def _with_credentials(url: str, place: str) -> str:
    """A link to the index's own host takes the index's user name and password along; another host gets none.

    >>> _with_credentials("https://host/f.whl", "https://me:pass@host/simple/x/")
    'https://me:pass@host/f.whl'
    >>> _with_credentials("https://files/f.whl", "https://me:pass@host/simple/x/")
    'https://files/f.whl'
    """
    parts, known = urlsplit(url), urlsplit(place)
    same = (
        known.username is not None and parts.netloc == known.netloc.rpartition("@")[2] and parts.scheme == known.scheme
    )
    return parts._replace(netloc=known.netloc).geturl() if same else url


class Fetcher:
    """Downloads each archive once, into a folder that goes away with it: `with Fetcher() as fetcher`.

    `settings` are pip's and npm's own where None; they are read when something is to be fetched.
    """

    def __init__(
        self,
        settings: IndexSettings | None = None,
        *,
        progress: Progress = no_progress,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._settings, self._progress, self._say = settings, progress, say
        self._client: Client | None = None
        self._failed: dict[str, Exception] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="rushes-")

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *error: object) -> None:
        self._temporary.cleanup()

    def archive(self, archive: Archive) -> Path:
        """The archive's local path, checked; `FetchError` or `WeightsError` where it cannot be had as pinned."""
        if archive.sha256 in self._failed:
            raise self._failed[archive.sha256]
        target = Path(self._temporary.name) / archive.file
        if not target.exists():
            try:
                self._download(archive, target)
            except (FetchError, WeightsError) as error:
                self._failed[archive.sha256] = error
                raise
        return target

    def _download(self, archive: Archive, target: Path) -> None:
        self._settings = self._settings or read_settings()
        self._client = self._client or Client(cert=self._settings.cert, timeout_s=self._settings.timeout_s)
        reasons: list[str] = []
        changed: list[str] = []
        part = target.with_name(f"{target.name}.part")
        self._say(f"fetching {archive.file} ({archive.size / 1e6:.1f} MB) of {archive.requirement}")
        for place in places(archive, self._settings):
            part.unlink(missing_ok=True)
            try:
                link = offered(archive, place, self._client)
                _same(archive, link.sha256 or archive.sha256, shown(place))
                self._client.file(link.url, part, size=archive.size, seen=_kilobytes(archive, self._progress))
                _same(archive, file_digest(part), shown(place))
                part.replace(target)
                return
            except AnotherFile as error:
                changed.append(f"{archive.file} has changed at {shown(place)}: {error}; nothing was kept")
            except FetchError as error:
                reasons.append(str(error))
            except WeightsError as error:
                changed.append(str(error))
        if changed:
            raise WeightsError("; ".join(changed))
        raise FetchError(", ".join(dict.fromkeys(reasons)) or "pip is set up without an index (no-index)")


def _kilobytes(archive: Archive, progress: Progress) -> Callable[[int], None]:
    """Tells `progress` how far a download is, in thousands of bytes."""

    def seen(done: int) -> None:
        progress(done // 1000, archive.size // 1000, f"{archive.file} (kB)")

    seen(0)
    return seen


def _same(archive: Archive, digest: str, place: str) -> None:
    if digest != archive.sha256:
        raise WeightsError(
            f"{archive.file} has changed at {place}: expected sha256 {archive.sha256}, got {digest}; nothing was kept"
        )
