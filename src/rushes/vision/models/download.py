"""Fetching a URL with the standard library: into memory for a page, into a file for an archive.

Proxies are urllib's (`https_proxy` …); certificates are the system's, `SSL_CERT_FILE` or pip's `cert`. A broken
download is taken up where it stopped, twice at most, and never kept.
"""

from __future__ import annotations

import base64
import http.client
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from time import sleep
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

Result = TypeVar("Result")

TRIES = 3
PAUSE_S = 0.5
_PIECE = 1 << 18
_LARGEST_PAGE = 1 << 26
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class FetchError(Exception):
    """A URL that could not be read; the text says why, without address or password."""


class NotThere(FetchError):
    """The server answers, and has no such thing."""


class AnotherFile(FetchError):
    """The server has something else under this address."""


class _BrokeOff(Exception):
    """Less came than was promised: another try may go on."""


class Client:
    """Reads http(s) and file URLs."""

    def __init__(self, *, cert: str | None = None, timeout_s: float = 30.0) -> None:
        handlers: list[urllib.request.BaseHandler] = []
        if cert:
            try:
                context = ssl.create_default_context(cafile=cert if os.path.isfile(cert) else None, capath=cert)
            except OSError as error:
                raise FetchError(f"certificates {cert}: {error.strerror or error}") from None
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)
        self._timeout = timeout_s

    def page(self, url: str, *, accept: str) -> tuple[bytes, str, str]:
        """The content of a page, its content type, and the URL it was read from in the end."""

        def read() -> tuple[bytes, str, str]:
            with self._open(url, {"Accept": accept}) as reply:
                return reply.read(_LARGEST_PAGE), reply.headers.get_content_type(), reply.geturl()

        return _tried(read, url)

    def file(self, url: str, target: Path, *, size: int, seen: Callable[[int], None]) -> None:
        """Write a URL's content to `target`; `seen(bytes so far)` after each piece.

        Raises `FetchError` where it does not come whole, `AnotherFile` where it is not `size` bytes long.
        """

        def go_on() -> None:
            self._go_on(url, target, size, seen)
            if (got := target.stat().st_size) != size:
                raise _BrokeOff(f"the connection broke off after {got} of {size} bytes")

        _tried(go_on, url)

    def _go_on(self, url: str, target: Path, size: int, seen: Callable[[int], None]) -> None:
        have = target.stat().st_size if target.exists() else 0
        with self._open(url, {"Range": f"bytes={have}-"} if have else {}) as reply:
            goes_on = have and getattr(reply, "status", 200) == 206 and _starts_at(reply.headers) == have
            have = have if goes_on else 0
            stated = reply.headers.get("Content-Length") or ""
            if not goes_on and stated.isdecimal() and int(stated) != size:
                raise AnotherFile(f"expected {size} bytes, got {stated}")
            with open(target, "ab" if goes_on else "wb") as out:
                while piece := reply.read(_PIECE):
                    have += len(piece)
                    if have > size:
                        raise AnotherFile(f"expected {size} bytes, got more")
                    out.write(piece)
                    seen(have)

    def _open(self, url: str, headers: Mapping[str, str]) -> Any:
        plain, credentials = split_credentials(url)
        if urlsplit(plain).scheme not in ("http", "https", "file"):
            raise FetchError("it is not an http, https or file address")
        request = urllib.request.Request(plain, headers={"User-Agent": "rushes", **headers})
        if credentials:
            request.add_unredirected_header("Authorization", credentials)
        return self._opener.open(request, timeout=self._timeout)


def split_credentials(url: str) -> tuple[str, str]:
    """A URL without its user name and password, and these as an Authorization header.

    >>> split_credentials("https://me:pass@host:8/simple/")
    ('https://host:8/simple/', 'Basic bWU6cGFzcw==')
    """
    parts = urlsplit(url)
    if parts.username is None:
        return url, ""
    place = parts.netloc.rpartition("@")[2]
    both = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return urlunsplit(parts._replace(netloc=place)), "Basic " + base64.b64encode(both.encode()).decode()


def shown(url: str) -> str:
    """A URL as a message may show it.

    >>> shown("https://me:pass@host/simple/")
    'https://host/simple/'
    """
    return split_credentials(url)[0]


def _starts_at(headers: Any) -> int:
    """Where a partial answer says it begins; -1 where it does not say."""
    unit, _, rest = (headers.get("Content-Range") or "").partition(" ")
    start = rest.partition("-")[0]
    return int(start) if unit == "bytes" and start.isdecimal() else -1


def _tried(work: Callable[[], Result], url: str) -> Result:
    """What the work gives, at one of a few tries; `FetchError` with the last reason."""
    reason = ""
    for attempt in range(TRIES):
        if attempt:
            sleep(PAUSE_S * 2 ** (attempt - 1))
        try:
            return work()
        except _BrokeOff as error:
            reason = str(error)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = _reason(error, url)
    raise FetchError(reason)


def _reason(error: Exception, url: str) -> str:
    """Why one try failed; raises at once where another cannot help."""
    host = urlsplit(url).hostname or shown(url)
    if isinstance(error, urllib.error.HTTPError):
        code, words = error.code, error.reason
        error.close()
        if code in (404, 410):
            raise NotThere(f"{host} answers {code} {words}") from None
        if code not in _TRY_AGAIN:
            raise FetchError(f"{host} answers {code} {words}") from None
        return f"{host} answers {code} {words}"
    cause = getattr(error, "reason", None) or error
    if isinstance(cause, TimeoutError):
        return f"{host} does not answer in time"
    if urlsplit(url).scheme == "file" and isinstance(cause, FileNotFoundError):
        raise NotThere(f"{shown(url)} does not exist") from None
    return f"{host}: {' '.join(str(cause).split()) or type(cause).__name__}"
