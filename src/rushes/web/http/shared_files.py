"""Files that written pages have inside and the workbench serves: one timeline, one palette, not two."""

from __future__ import annotations

from importlib.resources import as_file, files

from starlette.requests import Request
from starlette.responses import FileResponse, Response

SHARED = {"frame.css": "text/css", "verdict.css": "text/css", "timeline.js": "text/javascript"}
"""Names in `rushes.present.pages`' assets, with their types."""


def shared_file(request: Request) -> Response:
    """One of `SHARED`, named by its route; revalidated on every visit."""
    name = request.url.path.rpartition("/")[2]
    with as_file(files("rushes.present.pages") / "assets" / name) as source:
        return FileResponse(source, media_type=SHARED[name], headers={"cache-control": "no-cache"})
