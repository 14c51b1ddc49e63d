"""One clip with its timeline, and the files of clips."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from rushes.errors import MediaError, RunError
from rushes.web.access import admin
from rushes.web.clip_numbers import clip_numbers, fired_first
from rushes.web.errors import Refusal
from rushes.web.media import file_response
from rushes.web.pages import json_reply, reply, with_twin
from rushes.web.rows import rows_of
from rushes.web.run_cache import OpenRun, Row
from rushes.web.run_data import run_head, take_page, timeline_data
from rushes.web.run_query import read_query
from rushes.web.shared_clips import has_clip
from rushes.web.side_by_side import Side, clip_data
from rushes.web.take_files import playable, take_file
from rushes.web.views.runs import open_run, run_folder
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/runs/{name}/take")
def take(request: Request, name: str, id: str) -> Response:
    opened = open_run(request, name)
    row = clip_row(opened, id)
    bench = workbench(request)
    query = read_query(request.query_params, opened.readings)
    beside = rows_of(opened).beside(query, id)
    side = Side(name=name, opened=opened, row=row, places={})
    numbers = clip_numbers(opened, row)
    data = {
        "run": run_head(name, run_folder(request, name), opened),
        "take": clip_data(side, run_cache=bench.run_cache) | {"measurements": numbers},
        "place": beside.place + 1,
        "listed": beside.matching,
        "elsewhere": _in_other_runs(request, name, id),
    }
    around: dict[str, Any] = {"query": query, "before": beside.before, "after": beside.after}
    return reply(request, "run/take.html", data, numbers=fired_first(numbers), **around)


@router.get("/runs/{name}/timeline.json", response_model=None)
def timeline(request: Request, name: str, id: str) -> Response:
    """The compact series under the player, or `null` where the run kept none."""
    opened = open_run(request, name)
    return json_reply({"timeline": timeline_data(opened, clip_row(opened, id))})


@router.api_route("/takes/{token}", methods=["GET", "HEAD"], response_model=None)
def clip(request: Request, token: str) -> Response:
    """A run's clip, by token only; made playable first where browsers could not show it."""
    file = _by_token(request, token)
    if file is None:
        raise Refusal(404, "There is no such clip, or its file was moved or deleted.", code="clip-missing")
    try:
        return file_response(request, playable(file, media=workbench(request).media_folder))
    except MediaError as error:
        raise Refusal(415, f"This clip cannot be played: {error}", code="clip-unplayable") from None


@router.get("/static/timeline.js", response_model=None)
def timeline_module() -> Response:
    """The canvas module that the report uses too: one drawing of a timeline, not two."""
    with as_file(files("rushes.report") / "assets" / "timeline.js") as source:
        return FileResponse(source, media_type="text/javascript", headers={"cache-control": "no-cache"})


def clip_row(opened: OpenRun, subject: str) -> Row:
    """The row of a clip; a page that says so where the run has none of that name."""
    row = opened.by_id.get(subject)
    if row is None:
        raise Refusal(404, "This run has no clip of that name.")
    return row


def _in_other_runs(request: Request, name: str, subject: str) -> list[dict[str, object]]:
    """The clip of the same name in the other runs, for a look side by side."""
    found: list[dict[str, object]] = []
    bench = workbench(request)
    for other, folder in bench.runs.items():
        if other != name and has_clip(folder, subject, run_cache=bench.run_cache):
            address = "/compare?" + urlencode({"a": f"{name}/{subject}", "b": f"{other}/{subject}"})
            found.append({"run": other, "address": address, "take": take_page(other, subject)})
    return found


def _by_token(request: Request, token: str) -> Path | None:
    found = workbench(request).run_cache.take(token)
    if found is None:
        return None
    try:
        opened = workbench(request).run_cache.read(found[0])
    except RunError:
        return None
    row = opened.by_id.get(found[1])
    return None if row is None else take_file(opened.run, row.entry.subject)
