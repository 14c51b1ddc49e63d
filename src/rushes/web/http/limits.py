"""Limits: how large a request's body may be and how long it may take, and how often a password may be tried."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rushes.web.http.errors import Refusal
from rushes.web.http.fields import whole_number

BODY_LIMIT = 256 * 1024
"""Bytes of an ordinary request: a vote, a form, a play ledger."""
UPLOAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a request to a page that takes a CSV."""
BODY_S, UPLOAD_S = 20.0, 180.0
"""How long all of a body may take to arrive."""
MOST_KEYS = 10_000


class BodyLimit:
    """ASGI layer that stops reading a body past its limit, whether or not its length was declared, and one that takes
    too long."""

    seconds = BODY_S

    def __init__(self, app: ASGIApp, *, upload_paths: tuple[str, ...] = ()) -> None:
        self.app = app
        self.upload_paths = upload_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        upload = scope["path"] in self.upload_paths
        limit = UPLOAD_LIMIT if upload else BODY_LIMIT
        until = time.monotonic() + (UPLOAD_S if upload else self.seconds)
        seen, complete = 0, False

        async def limited() -> Message:
            nonlocal seen, complete
            if complete:
                return await receive()  # only the connection's end is left to hear of
            try:
                part = await asyncio.wait_for(receive(), max(0.01, until - time.monotonic()))
            except TimeoutError:
                slow = Refusal(
                    408, "The request did not arrive in time. Nothing was stored; send it again.", code="slow"
                )
                slow.headers = {"connection": "close"}
                raise slow from None
            complete = not part.get("more_body", False)
            seen += len(part.get("body", b""))
            if seen > limit:
                message = f"The request is larger than {limit // 1024} KiB; send less at once."
                raise Refusal(413, message, code="too-large")
            return part

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if whole_number(declared.decode("latin-1") or "0", highest=limit) is None:
            seen = limit + 1  # refuse at the first read, before the bytes arrive
        await self.app(scope, limited, send)


class RateLimit:
    """At most so many tries per key in `window_s` seconds. A try counts when it begins, so that many at once count too.

    >>> now = [0.0]
    >>> limit = RateLimit(window_s=60, clock=lambda: now[0])
    >>> [limit.begin({"a": 2}), limit.begin({"a": 2}), limit.begin({"a": 2}), limit.begin({"b": 2})]
    [0, 0, 60, 0]
    >>> now[0] = 61.0
    >>> limit.begin({"a": 2})
    0
    """

    def __init__(self, *, window_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window_s, self._clock = window_s, clock
        self._tries: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def begin(self, keys: Mapping[str, int]) -> int:
        """Count a try against every key, with the most it may have; or, where one is used up, the seconds to wait."""
        with self._lock:
            now = self._clock()
            past = {key: self._recent(key, now) for key in keys}
            waits = [past[key][0] + self._window_s - now for key, most in keys.items() if len(past[key]) >= most]
            if waits:
                return max(1, round(max(waits)))
            for key in keys:
                past[key].append(now)
                self._tries[key] = past[key]
            self._forget_some()
            return 0

    def succeeded(self, keys: Mapping[str, int]) -> None:
        """The try was a good one: it does not count."""
        with self._lock:
            for key in keys:
                past = self._tries.get(key)
                if past:
                    past.pop()

    def _recent(self, key: str, now: float) -> deque[float]:
        past = self._tries.get(key, deque())
        while past and past[0] + self._window_s <= now:
            past.popleft()
        return past

    def _forget_some(self) -> None:
        """A flood of addresses must not fill the memory: those with the fewest tries go first, never all of them."""
        if len(self._tries) > MOST_KEYS:
            for key in sorted(self._tries, key=lambda key: len(self._tries[key]))[: MOST_KEYS // 2]:
                del self._tries[key]
