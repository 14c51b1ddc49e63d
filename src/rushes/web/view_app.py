"""The app of `rushes view`: the home page at once, the rest of the workbench as soon as it is imported.

Importing everything takes a second or two; the home page needs little of it. So a small app answers the home page and
its files, and everything else is passed on to the whole one, which is made in the background after the first page has
gone out, or when it is first asked for.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from rushes.web.home.discovery import Discovery, Root, Served
from rushes.web.http.security import Guard
from rushes.web.http.shared_files import SHARED, shared_file
from rushes.web.runs.summary import is_sharded
from rushes.web.views.home import home
from rushes.web.workbench import Workbench

STATIC = Path(__file__).with_name("static")
_FILES = ("frame.css", "rushes.css", "home.css", "home.js", "landed.js", "net.js", "icon.svg")
WARM_UP_S = 0.4
"""After the home page has gone out: time for the browser to fetch its files and paint."""


def view_app(folders: Sequence[Path], *, token: str) -> Starlette:
    """The app over everything below these folders. `token` is what the printed link carries."""
    many = len(folders) > 1
    discovery = Discovery([Root(folder=folder, prefix=folder.resolve().name if many else "") for folder in folders])
    bench = Workbench(
        runs=Served(discovery, "runs"),
        suites=Served(discovery, "suites"),
        discovery=discovery,
        view_token=token,
        setup_key=secrets.token_urlsafe(16),
    )
    rest = _Rest(bench)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        bench.close()

    async def first(request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool

        answer = await run_in_threadpool(home, request)
        answer.background = BackgroundTask(rest.warm_up_soon)  # once it has gone out, however long it took
        return answer

    app = Starlette(
        routes=[Route("/", first), Route("/home.json", first), *(Route(f"/static/{name}", _file) for name in _FILES)],
        middleware=[Middleware(Guard, bench=bench)],
        lifespan=lifespan,
    )
    app.state.workbench = bench
    app.router.default = rest
    return app


def _file(request: Request) -> Response:
    """One of the home page's own files, named by its route."""
    name = request.url.path.rpartition("/")[2]
    return (
        shared_file(request) if name in SHARED else FileResponse(STATIC / name, headers={"cache-control": "no-cache"})
    )


class _Rest:
    """The whole app, made once: in a thread, so that the home page goes on being answered."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._made: asyncio.Task[ASGIApp] | None = None
        self._warming = False
        self._prepared: asyncio.Task[None] | None = None

    async def warm_up_soon(self) -> None:
        if not self._warming:
            self._warming = True
            asyncio.get_running_loop().call_later(WARM_UP_S, self._task)

    def _task(self) -> asyncio.Task[ASGIApp]:
        if self._made is None or (self._made.done() and self._made.exception() is not None):
            self._made = asyncio.ensure_future(asyncio.to_thread(self._make))
            self._made.add_done_callback(self._prepare)
        return self._made

    def _prepare(self, made: asyncio.Task[ASGIApp]) -> None:
        """Go on in the background with what the first page of a run needs; no request waits for it."""
        if made.cancelled() or made.exception() is not None:
            return

        def work() -> None:
            from rushes.web.runs.ready import prepare

            prepare(self._bench)

        self._prepared = asyncio.ensure_future(asyncio.to_thread(work))

    def _make(self) -> ASGIApp:
        from importlib import import_module
        from importlib.util import find_spec

        from rushes.web.app import routed

        app = routed(self._bench)
        if any(map(is_sharded, self._bench.runs.values())) and find_spec("pyarrow"):
            for name in ("pyarrow.parquet", "pyarrow.compute"):  # the first page of such a run waits for them
                import_module(name)
        return app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await asyncio.shield(self._task())
        await app(scope, receive, send)
