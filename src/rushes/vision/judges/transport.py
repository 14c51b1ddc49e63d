"""One request to an endpoint: every way it can go wrong is an `EndpointError`, and some are worth another attempt.

Asked again, after a pause that doubles: 429, 500, 502, 503 and 504, a time-out, and a connection that breaks, also in
the middle of the reply. Any other status is final. `Retry-After` (seconds, or a date against the reply's own `Date`)
replaces the pause; one that is longer than the time limit ends the attempts. No answer depends on a clock or on chance.

A thread keeps its connection open from one request to the next. Redirects are not followed: the key would go along.
"""

from __future__ import annotations

import io
import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from time import monotonic, sleep
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from rushes.vision.judges.chat import is_local

AGAIN = (429, 500, 502, 503, 504)
_LONGEST_REPLY = 4 << 20


class EndpointError(Exception):
    """The endpoint gave no reply that can be read; `again` says whether another attempt may help, after `wait_s`."""

    def __init__(self, reason: str, *, again: bool, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.again, self.wait_s = reason, again, wait_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """How often to ask, and how long to wait in between."""

    most: int = 3
    pause_s: float = 2.0
    """Wait before the second attempt; doubled each time."""
    timeout: float = 120.0
    """Seconds an attempt may take, from the first byte sent to the last one read."""

    def ask(self, url: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """The reply's body; `EndpointError`, whose reason says how many attempts there were, where none came."""
        for attempt in range(1, self.most + 1):
            try:
                return _post(url, body, headers, self.timeout)
            except EndpointError as error:
                tried = f" (attempt {attempt} of {self.most})" if error.again else ""
                if not error.again or attempt == self.most:
                    raise EndpointError(error.reason + tried, again=False) from None
                wait = self.pause_s * 2 ** (attempt - 1) if error.wait_s is None else error.wait_s
                if wait > self.timeout:
                    reason = f"{error.reason}, and asks to wait {wait:g} s: over the time limit"
                    raise EndpointError(reason, again=False) from None
                sleep(wait)
        raise EndpointError("expected at least one attempt", again=False)


def _post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> bytes:
    parts = urlsplit(url)  # whoever made the address allows http(s) alone
    try:
        reply = _reply(parts, body, headers, monotonic() + timeout)
        if 200 <= reply.status < 300:
            return _whole(reply)
        reason = f"the endpoint answered {reply.status} {reply.reason}"
        raise EndpointError(reason, again=reply.status in AGAIN, wait_s=asked_wait(reply.headers))
    except EndpointError:
        disconnect()  # what is left of the reply lies in the connection
        raise
    except HTTPException as error:
        disconnect()
        raise EndpointError(f"the endpoint's reply broke off: {_words(error)}", again=True) from None
    except (OSError, ValueError) as error:
        disconnect()
        if isinstance(error, TimeoutError):
            raise EndpointError(f"timed out after {timeout:g} s", again=True) from None
        raise EndpointError(f"the endpoint cannot be reached: {error}", again=isinstance(error, OSError)) from None


def _reply(parts: SplitResult, body: bytes, headers: Mapping[str, str], end: float) -> HTTPResponse:
    """Status and headers. A kept connection that the endpoint closed meanwhile is opened anew: it read no request."""
    for is_kept in (True, False):
        link, target = _connection(parts, end, kept=is_kept)
        if link is None:
            continue
        try:
            assert isinstance(link.sock, _TimedSocket)
            link.sock.end = end
            link.request("POST", target, body, dict(headers))
            return link.getresponse()
        except (ConnectionError, BrokenPipeError):
            disconnect()
            if not is_kept:
                raise
    raise AssertionError("a new connection is always tried")


_kept = threading.local()


def _connection(parts: SplitResult, end: float, *, kept: bool) -> tuple[HTTPConnection | None, str]:
    """The thread's open connection to this host (None where it has none) or a new one, and what to ask it for."""
    secure, host = parts.scheme == "https", parts.hostname or ""
    port = parts.port or (443 if secure else 80)
    proxy = _proxy(parts.scheme, host)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    target = parts.geturl() if proxy and not secure else path
    key = (os.getpid(), parts.scheme, host, port, proxy)
    if kept:
        return (_kept.link if getattr(_kept, "key", None) == key and _kept.link.sock else None), target
    first = urlsplit(proxy if "//" in proxy else f"//{proxy}") if proxy else None
    near = (first.hostname or "", first.port or 80) if first else (host, port)
    left = max(0.001, end - monotonic())
    link = (HTTPSConnection if secure else HTTPConnection)(*near, timeout=left)
    if first and secure:
        link.set_tunnel(host, port)
    link.connect()
    link.sock = _TimedSocket(link.sock, end)
    _kept.key, _kept.link = key, link
    return link, target


def _proxy(scheme: str, host: str) -> str:
    """The proxy that the environment names for this host, asked for once per thread and host; "" for none.

    What is for this machine never goes through one: nobody was asked whether it may leave.
    """
    known: dict[tuple[str, str], str] = _kept.__dict__.setdefault("proxies", {})
    if (scheme, host) not in known:
        known[scheme, host] = "" if is_local(host) or proxy_bypass(host) else getproxies().get(scheme, "")
    return known[scheme, host]


def disconnect() -> None:
    """Close this thread's connection, if it has one."""
    if (link := getattr(_kept, "link", None)) is not None:
        link.close()
        _kept.key = _kept.link = None
    _kept.__dict__.pop("proxies", None)


class _TimedSocket:
    """A socket whose whole exchange has one end: its own limit would start anew with every byte that drips in."""

    def __init__(self, inner: socket.socket, end: float) -> None:
        self.inner, self.end = inner, end

    def limit(self) -> socket.socket:
        """The socket, with the time that is left as its limit; `TimeoutError` where none is."""
        left = self.end - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self.inner.settimeout(left)
        return self.inner

    def sendall(self, data: Any) -> None:
        self.limit().sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """What is read; it keeps the socket open after `close`, as a socket's own file does."""
        return io.BufferedReader(_TimedReader(self, self.inner.makefile("rb", buffering=0)))

    def close(self) -> None:
        self.inner.close()


class _TimedReader(io.RawIOBase):
    def __init__(self, timed: _TimedSocket, raw: Any) -> None:
        self._timed, self._raw = timed, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._timed.limit()
        found: int | None = self._raw.readinto(buffer)
        return found

    def close(self) -> None:
        self._raw.close()
        super().close()


def _whole(reply: HTTPResponse) -> bytes:
    """The body; `IncompleteRead` where the connection closed before the length it announced: read(n) keeps quiet."""
    body = reply.read(_LONGEST_REPLY + 1)
    if len(body) > _LONGEST_REPLY:
        raise EndpointError(f"the endpoint's reply is over {_LONGEST_REPLY >> 20} MiB", again=False)
    if reply.length:
        raise IncompleteRead(body, reply.length)
    reply.read()  # the end of a chunked body: the connection is then free for the next request
    return body


def asked_wait(headers: Message) -> float | None:
    """Seconds that `Retry-After` asks for; None where it is absent or cannot be read. A date counts from `Date`."""
    text = (headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        wait = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date") or "")
    except (TypeError, ValueError):
        return None
    return max(0.0, wait.total_seconds())


def _words(error: HTTPException) -> str:
    """IncompleteRead(12 bytes read) names itself; others say what was wrong."""
    text = " ".join((str(error) or type(error).__name__).split())
    name = type(error).__name__
    return (text if name in text else f"{name}: {text}")[:200]
