"""Limits: how large a request's body may be, and how often a password may be tried."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rushes.web.errors import Refusal
from rushes.web.fields import whole_number

BODY_LIMIT = 256 * 1024
"""Bytes of an ordinary request: a vote, a form, a play ledger."""
UPLOAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a request to a page that takes a CSV."""


class BodyTooLarge(Refusal):
    """Raised while a body is being read, as soon as it passes its limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, f"The request is larger than {limit // 1024} KiB; send less at once.", code="too-large")


class BodyLimit:
    """ASGI layer that stops reading a body past its limit, whether or not its length was declared."""

    def __init__(self, app: ASGIApp, *, upload_paths: tuple[str, ...] = ()) -> None:
        self.app = app
        self.upload_paths = upload_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        limit = UPLOAD_LIMIT if scope["path"] in self.upload_paths else BODY_LIMIT
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise BodyTooLarge(limit)
            return message

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if whole_number(declared.decode("latin-1") or "0", highest=limit) is None:
            seen = limit + 1  # refuse at the first read, before the bytes arrive
        await self.app(scope, limited, send)


class RateLimit:
    """At most `tries` failures per key in `window_s` seconds; a success forgets them.

    >>> now = [0.0]
    >>> limit = RateLimit(tries=2, window_s=60, clock=lambda: now[0])
    >>> [limit.wait_s("a"), limit.failed("a"), limit.failed("a"), limit.wait_s("a"), limit.wait_s("b")]
    [0, None, None, 60, 0]
    >>> now[0] = 61.0
    >>> limit.wait_s("a")
    0
    """

    def __init__(self, *, tries: int, window_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._tries, self._window_s, self._clock = tries, window_s, clock
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def wait_s(self, key: str) -> int:
        """Seconds until the next try is allowed; 0 when it is allowed now."""
        with self._lock:
            past = self._recent(key)
            return 0 if len(past) < self._tries else max(1, round(past[0] + self._window_s - self._clock()))

    def failed(self, key: str) -> None:
        with self._lock:
            self._recent(key).append(self._clock())

    def succeeded(self, key: str) -> None:
        with self._lock:
            self._failures.pop(key, None)

    def _recent(self, key: str) -> deque[float]:
        if len(self._failures) > 10_000:  # a flood of addresses must not fill the memory
            self._failures.clear()
        past = self._failures.setdefault(key, deque(maxlen=self._tries))
        while past and past[0] + self._window_s <= self._clock():
            past.popleft()
        return past
