"""What an operator asks of the server: is it alive, is it ready, how busy is it, and a line per request.

/healthz   200 while the process answers; asks nothing else
/readyz    200 when the database answers and the media folder is there, else 503 with which is not
/metrics   requests and their durations in Prometheus' text format, where `rushes serve --metrics` was given

The log has a line per request: time, level, method, route, status, milliseconds. A route is written as the pattern that
answered ("/i/{token}"), so no token, study's name or participant's id can reach a log or a label.

This layer stands outside every other: a probe has no cookie, may use any Host, and gets none.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TextIO

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rushes.web.http.counts import RequestCounts

LogForm = Literal["text", "json", "off"]
access = logging.getLogger("rushes.access")
_NO_ROUTE = "none"


class Operations:
    """Answers probes, counts requests, and writes the log."""

    def __init__(self, app: ASGIApp, *, ready: Callable[[], str], counts: RequestCounts | None = None) -> None:
        self.app, self._ready, self._counts = app, ready, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if probe := await self._probe(str(scope["path"])):
            await probe(scope, receive, send)
            return
        status, begun = 500, time.perf_counter()

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            seconds, route = time.perf_counter() - begun, route_of(scope)
            if self._counts is not None:
                self._counts.add(str(scope["method"]), route, status, seconds)
            told = {"method": scope["method"], "route": route, "status": status, "ms": round(1000 * seconds, 1)}
            access.log(logging.WARNING if status >= 500 else logging.INFO, "request", extra={"told": told})

    async def _probe(self, path: str) -> PlainTextResponse | None:
        if path == "/healthz":
            return _plain("ok")
        if path == "/readyz":
            lacking = await run_in_threadpool(self._ready)
            return _plain(f"not ready: {lacking}", 503) if lacking else _plain("ready")
        if path == "/metrics" and self._counts is not None:
            return _plain(self._counts.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
        return None


def _plain(body: str, status: int = 200, media_type: str = "text/plain; charset=utf-8") -> PlainTextResponse:
    ending = "" if body.endswith("\n") else "\n"
    return PlainTextResponse(body + ending, status, {"cache-control": "no-store"}, media_type=media_type)


def route_of(scope: Scope) -> str:
    """The pattern of the address that answered: "/i/{token}"; "none" where no page did."""
    if str(scope["path"]).startswith("/static/"):
        return "/static"
    return str(getattr(scope.get("route"), "path", _NO_ROUTE))


class LogLines(logging.Formatter):
    """A line per event: "2026-01-31T12:00:00.123Z INFO GET /i/{token} 200 3.1 ms", or the same as JSON."""

    def __init__(self, form: LogForm) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = getattr(record, "told", None)
        if self._form == "json":
            said = told or {"message": record.getMessage()}
            trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
            return json.dumps({"time": at, "level": record.levelname, "logger": record.name, **said, **trace})
        if told:
            return f"{at} {record.levelname} {told['method']} {told['route']} {told['status']} {told['ms']} ms"
        trace_text = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{at} {record.levelname} {record.getMessage()}{trace_text}"


def log_to(stream: TextIO, form: LogForm) -> None:
    """Write the server's log there from now on; with "off", only warnings and errors, as text."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LogLines("text" if form == "off" else form))
    logger = logging.getLogger("rushes")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING if form == "off" else logging.INFO)
