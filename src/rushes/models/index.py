"""Finding the address of a released file: on simple index pages (PEP 503 in HTML, PEP 691 in JSON), in folders of
files, and in npm's metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import url2pathname

from rushes.models.catalogue import Archive
from rushes.models.download import Client, FetchError, NotThere, shown
from rushes.models.settings import IndexSettings

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
