"""A run in the browser: its contact sheet and table, and what to say when it cannot be read."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.clip.badges import BADGES
from rushes.errors import RunError
from rushes.report.page import verdict_html
from rushes.web.access import admin
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import json_reply, page, with_twin
from rushes.web.rows import rows_of
from rushes.web.run_cache import OpenRun, run_status
from rushes.web.run_data import column_data, column_keys, row_data, run_head
from rushes.web.run_query import PAGE_SIZE, RunQuery, read_query
from rushes.web.run_rows import RowsPage
from rushes.web.shared_clips import shares_clips
from rushes.web.sheet_data import SHEET_SIZE, page_numbers, range_data, signal_strip, tiles
from rushes.web.triage import NOTHING, Marks, read_marks
from rushes.web.workbench import Workbench, workbench

router = APIRouter(dependencies=[Depends(admin)])

ON_A_SHEET = ("clip", "pair")
"""Kinds of subjects that have a picture."""


@with_twin(router, "/runs/{name}")
def run_table(request: Request, name: str) -> Response:
    folder = run_folder(request, name)
    try:
        opened = workbench(request).run_cache.read(folder)
    except RunError as error:
        return _trouble(request, name, folder, error)
    query = read_query(request.query_params, opened.readings)
    as_sheet = has_sheet(opened) and not query.table and not wants_json(request)
    size = SHEET_SIZE if as_sheet else PAGE_SIZE
    rows, marks = rows_of(opened), read_marks(folder)
    found = rows.page(query, (query.page - 1) * size, size)
    pages = max(1, -(-found.matching // size))
    if query.page > pages:
        found = rows.page(query, (pages - 1) * size, size)
    keys = column_keys(opened, query)
    data: dict[str, Any] = {
        "run": run_head(name, folder, opened),
        "columns": [column_data(key, opened.readings[key]) for key in keys],
        "matching": found.matching,
        "page": min(query.page, pages),
        "pages": pages,
        "rows": [] if as_sheet else _rows(name, found, keys, marks),
        "ranges": range_data(rows, keys, query) if has_sheet(opened) else [],
        "tables": [table.as_dict() for table in opened.tables[1]],
        "problem": query.problem or marks.problem,
    }
    if wants_json(request):
        return json_reply(data)
    return page(request, "run/table.html", **data, **_around(request, name, opened, query, found, marks, as_sheet))


def _rows(name: str, found: RowsPage, keys: list[str], marks: Marks) -> list[dict[str, object]]:
    return [
        row_data(name, row, keys) | {"mark": marks.marks.get(row.entry.subject.id, NOTHING).as_dict()}
        for row in found.rows
    ]


def _around(
    request: Request, name: str, opened: OpenRun, query: RunQuery, found: RowsPage, marks: Marks, as_sheet: bool
) -> dict[str, Any]:
    """What the page has and its twin does not: tiles, choices, charts, links."""
    bench = workbench(request)
    figures, no_figures = opened.figures
    summary, grids = opened.tables
    size = SHEET_SIZE if as_sheet else PAGE_SIZE
    pages = max(1, -(-found.matching // size))
    cache = bench.run_cache
    return {
        "query": query,
        "shown_keys": set(column_keys(opened, query)),
        "badges": BADGES,
        "has_sheet": has_sheet(opened),
        "as_sheet": as_sheet,
        "size": size,
        "tiles": tiles(name, opened, found.rows, run_cache=cache, marks=marks.marks) if as_sheet else [],
        "numbers": page_numbers(min(query.page, pages), pages),
        "metrics": [column_data(key, reading) for key, reading in opened.readings.items()],
        "marks": marks,
        "verdict": verdict_html(
            signal_strip(
                name,
                opened,
                noun="pair" if opened.run.instrument == "fidelity" else "clip",
                pictures=query == RunQuery(table=True),
            )
        ),
        "others": shares_clips(bench, name),
        "figures": figures,
        "no_figures": no_figures,
        "summary": summary,
        "grids": grids,
        "local": on_this_machine(request, bench),
        "has_studies": not getattr(bench, "viewing", False),
        "study_command": f"rushes serve --db studies.db --run {shlex.quote(str(opened.run.path))} --run OTHER",
    }


def has_sheet(opened: OpenRun) -> bool:
    """Whether the run's subjects are clips; a study, a sweep or a set has tables instead."""
    subjects = opened.run.subjects if opened.run.shards is None else opened.run.subjects[:1]  # all are clips, or none
    return not subjects or any(subject.kind in ON_A_SHEET for subject in subjects)


def on_this_machine(request: Request, bench: Workbench) -> bool:
    """Whether the browser runs where the server does: only then does a folder of links make sense."""
    host = request.client.host if request.client else ""
    return host in ("127.0.0.1", "::1") and not bench.public_url and not bench.trusted_proxies and not bench.any_host


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
