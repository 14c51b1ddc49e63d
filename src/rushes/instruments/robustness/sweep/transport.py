"""One request to an endpoint: every way it can go wrong is an `EndpointError`, and some are worth another attempt.

Asked again, after a pause that doubles: 429, 500, 502, 503 and 504, a time-out, and a connection that breaks, also in
the middle of the reply. Any other status is final. `Retry-After` (seconds, or a date against the reply's own `Date`)
replaces the pause; one that is longer than the time limit ends the attempts. Nothing depends on a clock or on chance.
"""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from time import sleep
from typing import IO

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
                return _within(self.timeout, lambda: _post(url, body, headers, self.timeout))
            except EndpointError as error:
                tried = f" (attempt {attempt} of {self.most})" if error.again else ""
                if not error.again or attempt == self.most:
                    raise EndpointError(error.reason + tried, again=False) from None
                wait = self.pause_s * 2 ** (attempt - 1) if error.wait_s is None else error.wait_s
                if wait > self.timeout:
                    reason = f"{error.reason}, and asks to wait {wait:g} s: over the time limit"
                    raise EndpointError(reason, again=False) from None
                sleep(wait)
        raise EndpointError("no attempt was allowed", again=False)


def _post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> bytes:
    request = urllib.request.Request(url, body, dict(headers), method="POST")  # check() allows http(s) alone
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=timeout) as reply:
            return _whole(reply)
    except urllib.error.HTTPError as error:
        error.close()
        reason = f"the endpoint answered {error.code} {error.reason}"
        raise EndpointError(reason, again=error.code in AGAIN, wait_s=asked_wait(error.headers)) from None
    except HTTPException as error:
        raise EndpointError(f"the endpoint's reply broke off: {_words(error)}", again=True) from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, TimeoutError):
            raise EndpointError(f"timed out after {timeout:g} s", again=True) from None
        raise EndpointError(f"the endpoint cannot be reached: {cause}", again=isinstance(error, OSError)) from None


def _whole(reply: HTTPResponse) -> bytes:
    """The body; `IncompleteRead` where the connection closed before the length it announced: read(n) keeps quiet."""
    body = reply.read(_LONGEST_REPLY + 1)
    if len(body) > _LONGEST_REPLY:
        raise EndpointError(f"the endpoint's reply is over {_LONGEST_REPLY >> 20} MiB", again=False)
    if reply.length:
        raise IncompleteRead(body, reply.length)
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


def _within(seconds: float, work: Callable[[], bytes]) -> bytes:
    """The work's result, or a time-out: a socket's own limit starts anew with every byte that drips in."""
    outcome: list[bytes | EndpointError] = []

    def run() -> None:
        try:
            outcome.append(work())
        except EndpointError as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + _GRACE_S)
    if not outcome:
        raise EndpointError(f"timed out after {seconds:g} s", again=True)
    if isinstance(outcome[0], EndpointError):
        raise outcome[0]
    return outcome[0]


_GRACE_S = 0.5
"""The socket's own limit is told first where it is the one that counts."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another host: it is an error instead."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None
