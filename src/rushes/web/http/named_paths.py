"""Names with slashes in addresses: `/runs/demo/clip/map` is about the run "demo/clip".

A route's `{name}` ends at a slash. So, before a request is routed, the slashes of a served name at the beginning of the
rest are written as a mark that no file name has; and before a view is called, they are slashes again. Of two names that
fit, the longer one is meant.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from rushes.web.workbench import Workbench

_MARK = "\0"


class NamedPaths:
    """ASGI layer inside the app: routes see a name as one part of the path."""

    def __init__(self, app: ASGIApp, *, bench: Workbench) -> None:
        self.app, self.bench = app, bench

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            for start, names in (("/runs/", self.bench.runs), ("/boards/", self.bench.suites)):
                if scope["path"].startswith(start):
                    scope["path"] = start + marked(scope["path"][len(start) :], names)
        await self.app(scope, receive, send)


def marked(rest: str, names: Iterable[str]) -> str:
    """
    >>> marked("demo/clip/map", ["demo", "demo/clip"]).split(_MARK), marked("demo/clip.json", ["demo/clip"])[5:]
    (['demo', 'clip/map'], 'clip.json')
    """
    fitting = [name for name in names if rest == name or rest.startswith((f"{name}/", f"{name}."))]
    name = max(fitting, key=len, default="")
    return name.replace("/", _MARK) + rest[len(name) :]


async def with_slashes(request: Request) -> None:
    """Dependency of the whole app, before any other: the name, and the path, as they came."""
    request.scope["path"] = request.scope["path"].replace(_MARK, "/")
    params = request.scope.get("path_params", {})
    for key, value in params.items():
        if isinstance(value, str):
            params[key] = value.replace(_MARK, "/")
