"""A run in the browser: its table, and what to say when it cannot be read."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.clip.badges import BADGES
from rushes.errors import RunError
from rushes.web.access import admin
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import page, reply, with_twin
from rushes.web.run_cache import OpenRun, run_status
from rushes.web.run_data import column_data, column_keys, row_data, run_head
from rushes.web.run_query import PAGE_SIZE, chosen, read_query
from rushes.web.shared_clips import shares_clips
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/runs/{name}")
def run_table(request: Request, name: str) -> Response:
    folder = run_folder(request, name)
    try:
        opened = workbench(request).run_cache.read(folder)
    except RunError as error:
        return _trouble(request, name, folder, error)
    query = read_query(request.query_params, opened.readings)
    rows = chosen(opened, query)
    pages = max(1, -(-len(rows) // PAGE_SIZE))
    first = (min(query.page, pages) - 1) * PAGE_SIZE
    keys = column_keys(opened, query)
    data = {
        "run": run_head(name, folder, opened),
        "columns": [column_data(key, opened.readings[key]) for key in keys],
        "matching": len(rows),
        "page": first // PAGE_SIZE + 1,
        "pages": pages,
        "rows": [row_data(name, row, keys) for row in rows[first : first + PAGE_SIZE]],
        "problem": query.problem,
    }
    others = shares_clips(workbench(request).runs, name)
    figures, no_figures = opened.figures
    metrics = [column_data(key, reading) for key, reading in opened.readings.items()]
    return reply(
        request,
        "run/table.html",
        data,
        query=query,
        badges=BADGES,
        metrics=metrics,
        others=others,
        figures=figures,
        no_figures=no_figures,
    )


@router.get("/runs/{name}/figures/{number}.svg", response_model=None)
def figure(request: Request, name: str, number: int) -> Response:
    """One of the run's charts, as a picture: it brings its own inline style, and nothing in it may run."""
    figures, _ = open_run(request, name).figures
    if not 0 <= number < len(figures):
        raise Refusal(404, "This run has no such chart.")
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
    return Response(figures[number].svg, media_type="image/svg+xml", headers=headers)


def run_folder(request: Request, name: str) -> Path:
    """The folder served under this name; names are ours, so no address reaches any other folder."""
    folder = workbench(request).runs.get(name)
    if folder is None:
        raise Refusal(404, "No run of this name is served. The home page lists those that are.")
    return folder


def open_run(request: Request, name: str) -> OpenRun:
    return workbench(request).run_cache.read(run_folder(request, name))


def _trouble(request: Request, name: str, folder: Path, error: RunError) -> Response:
    """A run that cannot be read gets a page of its own: what is wrong, and what to do."""
    if wants_json(request):
        raise error
    context = {"what": "run", "address": f"/runs/{name}", "name": name, "message": str(error)}
    return page(request, "run/trouble.html", status=409, **context, facts=run_status(folder))
