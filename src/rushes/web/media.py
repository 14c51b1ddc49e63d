"""Clips over HTTP: by opaque token only, with ranges and validators.

Starlette's `FileResponse` answers Range (206, 416) and If-Range. Added here: If-None-Match (304), and validators that
give nothing away. A file's own date or digest would let a rater group clips by the system that made them, so the ETag
is the service's opaque one, different for every assignment, and there is no Last-Modified worth reading.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from rushes.preference.study import Media
from rushes.web.errors import Refusal

log = logging.getLogger("rushes.web")

# One constant date for every clip: If-Range compares with it, and it tells nothing.
_NO_DATE = "Thu, 01 Jan 1970 00:00:00 GMT"
_CACHE = "private, max-age=3600"


class ClipResponse(FileResponse):
    """A clip's bytes with a neutral validator; the file's name, date and digest stay on the server."""

    def __init__(self, media: Media, *, etag: str) -> None:
        headers = {"etag": etag, "last-modified": _NO_DATE, "cache-control": _CACHE}
        super().__init__(media.path, headers=headers, media_type=media.content_type)

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        self.headers.setdefault("content-length", str(stat_result.st_size))


def clip_response(request: Request, media: Media) -> Response:
    """The answer to a request for a clip: 200, 206, 304, 416, or 404 when the file has gone."""
    etag = f'"{media.etag.strip(chr(34))}"'
    if not Path(media.path).is_file():
        log.error("a clip of a study is missing: %s", media.path)
        raise Refusal(404, "This clip cannot be found. Report it as a problem and go on.", code="clip-missing")
    if matches(request.headers, etag):
        return Response(status_code=304, headers={"etag": etag, "cache-control": _CACHE})
    return ClipResponse(media, etag=etag)


def matches(headers: Headers, etag: str) -> bool:
    """Whether If-None-Match names this ETag (weak comparison, as RFC 9110 13.1.2 asks for it)."""
    wanted = headers.get("if-none-match")
    if wanted is None:
        return False
    return wanted.strip() == "*" or etag in [part.strip().removeprefix("W/") for part in wanted.split(",")]
