"""Limits: how large a request's body may be and how long it may take."""

from __future__ import annotations

import asyncio
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rushes.web.http.errors import Refusal
from rushes.web.http.fields import whole_number

BODY_LIMIT = 256 * 1024
"""Bytes of an ordinary request: a vote, a form, a play ledger."""
UPLOAD_LIMIT = 16 * 1024 * 1024
"""Bytes of a request to a page that takes a CSV."""
BODY_S, UPLOAD_S = 20.0, 180.0
"""How long all of a body may take to arrive."""


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
