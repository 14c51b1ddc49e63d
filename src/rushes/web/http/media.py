"""Clips over HTTP: by opaque token only, with ranges and validators, checked before they go out and counted as they do.

Starlette's `FileResponse` answers Range (206, 416) and If-Range. Added here:

- If-None-Match (304), where the browser has been sent all of the clip.
- Validators that give nothing away. A file's own date or digest would let a rater group clips by the system that made
  them, so the ETag is the service's opaque one, different for every assignment, and the date is always the same.
- A file that is not the one that was imported is not sent; the study's owner is told.
- The bytes that go out for a rater's pair are noted: play counts for clips that were sent in full.
- Padding (`padding.py`), so that neither the number of bytes nor the bytes themselves tell which clip it is.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.types import Message, Receive, Scope, Send

from rushes.core.machine.provenance import file_digest
from rushes.study import Media, StudyService
from rushes.web.http.errors import Refusal
from rushes.web.http.padding import PaddedFile, Padding
from rushes.web.kept import Current

log = logging.getLogger("rushes.web")

# One constant date for every clip: If-Range compares with it, and it tells nothing.
_NO_DATE = "Thu, 01 Jan 1970 00:00:00 GMT"
_KEPT = "private, max-age=3600"
# Kept by the browser too, but asked about each time: what is sent is counted for each assignment.
_ASKED = "private, no-cache"
NOTE_EVERY_S = 1.0
"""How often a clip that is being sent is noted; a small one is noted once, before its last bytes."""
_READERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="clips")
_MISSING = "This clip cannot be shown just now; the study's owner has been told. Report it as a problem and go on."


class Digests:
    """Whether files are what they should be. A file is read again only when its size, date or inode has changed."""

    def __init__(self) -> None:
        self._known = Current[str]()

    def holds(self, media: Media) -> bool:
        facts = os.stat(media.path)
        stamp = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        return self._known.get(media.path, stamp, lambda: file_digest(media.path)) == media.sha256


class _File:
    """A file that is read in threads of its own: those of the requests are often all waiting for the database."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    async def read(self, count: int) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(_READERS, self._file.read, count)

    async def seek(self, place: int) -> int:
        return self._file.seek(place)


def _close(opening: Future[BufferedReader]) -> None:
    """Close a file that nobody waits for any more: the request ended while it was opened."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class ClipResponse(FileResponse):
    """A clip's bytes with a neutral validator; the file's name, date and digest stay on the server."""

    chunk_size = 512 * 1024

    def __init__(self, media: Media, *, etag: str, tally: Tally | None = None) -> None:
        headers = {"etag": etag, "last-modified": _NO_DATE, "cache-control": _cache(media)}
        facts = os.stat(media.path)
        self._padding: Padding | None = None
        if media.padded is not None and media.padded > facts.st_size:
            sizes = {"size": facts.st_size, "padded": media.padded}
            self._padding = Padding(etag, **sizes, webm=media.content_type == "video/webm")
            facts = os.stat_result((*facts[:6], media.padded, *facts[7:10]))
        super().__init__(media.path, headers=headers, media_type=media.content_type, stat_result=facts)
        self.tally = tally

    @asynccontextmanager
    async def _open_file(self) -> AsyncIterator[Any]:
        """What the file's bytes are read from, for whole answers and ranges alike."""
        opening = _READERS.submit(open, self.path, "rb")
        try:
            opened = await asyncio.wrap_future(opening)
        except BaseException:
            opening.add_done_callback(_close)
            raise
        with opened:
            file = _File(opened)
            yield file if self._padding is None else PaddedFile(file, self._padding)

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        self.headers.setdefault("content-length", str(stat_result.st_size))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.tally is None or scope["method"] == "HEAD":
            await super().__call__(scope, receive, send)
            return
        counting = self.tally.counting(Request(scope, receive), send)
        try:
            await super().__call__(scope, receive, counting)
        finally:
            await self.tally.note()


class Tally:
    """The bytes of one answer, noted for the rater's pair as they go out."""

    def __init__(self, service: StudyService, media: Media) -> None:
        self._service, self._media = service, media
        self._place: int | None = None
        self._first = 0
        self._noted = 0
        self._begun = self._last_note = 0.0

    def counting(self, request: Request, send: Send) -> Send:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._begin(message)
                await send(message)
                return
            if await request.is_disconnected():
                raise ClientDisconnect
            size, last = len(message.get("body", b"")), not message.get("more_body", False)
            if last and self._place is not None:
                self._place += size
                await self.note()  # before the last bytes: a page may report play as soon as it has them
            await send(message)
            if not last and self._place is not None:
                self._place += size
                if time.monotonic() - self._last_note > NOTE_EVERY_S:
                    await self.note()

        return counted

    def _begin(self, message: Message) -> None:
        self._begun = self._last_note = time.monotonic()
        headers = Headers(raw=message["headers"])
        if message["status"] == 200:
            self._place = 0
        elif part := re.fullmatch(r"bytes (\d+)-\d+/\d+", headers.get("content-range", "")):
            self._place = int(part[1])  # several ranges at once are sent, and not counted: no browser asks so
        self._first = self._noted = self._place or 0

    async def note(self) -> None:
        """Store what has gone out so far."""
        if self._place is None or self._place <= self._noted:
            return
        self._noted, self._last_note = self._place, time.monotonic()
        ago = round((self._last_note - self._begun) * 1000)
        span = min(self._first, self._media.size), min(self._place, self._media.size)  # padding is nothing to watch
        if span[0] < span[1]:
            await run_in_threadpool(self._service.record_sent, self._media, [span], ago_ms=ago)


def clip_response(request: Request, media: Media, service: StudyService, digests: Digests) -> Response:
    """The answer to a request for a study's clip: 200, 206, 304, 416, or 404 where the file has gone or changed."""
    if not Path(media.path).is_file():
        log.error("a clip of a study is missing: %s", media.path)
        raise Refusal(404, "This clip cannot be found. Report it as a problem and go on.", code="clip-missing")
    if media.sha256 and not digests.holds(media):
        log.error("a clip of a study is not the file that was imported: %s", media.path)
        if media.assignment is not None:
            service.report_changed(media)
        raise Refusal(404, _MISSING, code="clip-changed")
    if media.assignment is None or media.sent_in_full:
        return file_response(request, media)
    return ClipResponse(media, etag=_etag(media), tally=Tally(service, media))


def file_response(request: Request, media: Media) -> Response:
    """As `clip_response`, for a file that nobody's watching depends on."""
    if not Path(media.path).is_file():
        raise Refusal(404, "This clip cannot be found.", code="clip-missing")
    etag = _etag(media)
    if matches(request.headers, etag):
        return Response(status_code=304, headers={"etag": etag, "cache-control": _cache(media)})
    return ClipResponse(media, etag=etag)


def _cache(media: Media) -> str:
    return _KEPT if media.assignment is None else _ASKED


def _etag(media: Media) -> str:
    return f'"{media.etag.strip(chr(34))}"'


def matches(headers: Headers, etag: str) -> bool:
    """Whether If-None-Match names this ETag (weak comparison, as RFC 9110 13.1.2 asks for it)."""
    wanted = headers.get("if-none-match")
    if wanted is None:
        return False
    return wanted.strip() == "*" or etag in [part.strip().removeprefix("W/") for part in wanted.split(",")]
