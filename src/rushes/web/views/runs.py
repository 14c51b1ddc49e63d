"""A run in the browser: its contact sheet and table, and what they ask for by themselves: pictures, marks, lists."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rushes.core.errors import InputError, MediaError, RunError, RushesError
from rushes.core.reason import SIGNALS, by_severity
from rushes.web.clips.selection import make_links, path_list, selected_ids, selection_csv
from rushes.web.clips.thumbnails import behind_token, no_picture, thumbnail
from rushes.web.clips.triage import NOTHING, Change, CommentChanged, change_mark, read_marks
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import json_reply, page
from rushes.web.http.routes import Form, admin_router, with_json_view
from rushes.web.runs.answers import answers_data, coverage_of, sets_data
from rushes.web.runs.cache import ON_A_SHEET, OpenRun
from rushes.web.runs.cards import SHEET_SIZE, reason_data, tiles
from rushes.web.runs.data import (
    column_data,
    column_keys,
    page_numbers,
    range_data,
    row_data,
    run_head,
    signal_headline,
)
from rushes.web.runs.query import PAGE_SIZE, RunQuery, read_query
from rushes.web.runs.rows import rows_of
from rushes.web.runs.shared_clips import shares_clips
from rushes.web.runs.summary import run_status
from rushes.web.workbench import Workbench, workbench

router = admin_router()

Facts = Annotated[dict[str, Any], Body()]
MOST_IN_CSV = 10_000
"""Clips of a run in shards: their numbers are held at once."""


@with_json_view(router, "/runs/{name}")
def run_table(request: Request, name: str) -> Response:
    folder = run_folder(request, name)
    try:
        opened = workbench(request).run_cache.read(folder)
    except RunError as error:
        return trouble_page(request, error, what="run", name=name, facts=run_status(folder))
    query = read_query(request.query_params, opened.readings)
    as_sheet = has_sheet(opened) and not query.table and not wants_json(request)
    size = SHEET_SIZE if as_sheet else PAGE_SIZE
    rows, marks = rows_of(opened), read_marks(folder)
    keys = column_keys(opened, query)
    rows.look(keys)
    found = rows.page(query, (query.page - 1) * size, size)
    pages = max(1, -(-found.matching // size))
    if query.page > pages:
        found = rows.page(query, (pages - 1) * size, size)
    data: dict[str, Any] = {
        "run": run_head(name, folder, opened),
        "columns": [column_data(key, opened.readings[key]) for key in keys],
        "matching": found.matching,
        "page": min(query.page, pages),
        "pages": pages,
        "rows": [
            row_data(name, row, keys)
            | {"mark": marks.marks.get(row.entry.subject.id, NOTHING).as_dict()}
            | {"why": [reason_data(reason) for reason in by_severity(row.entry.subject.why)]}
            for row in (() if as_sheet else found.rows)
        ],
        "ranges": range_data(rows, keys, query, opened.run.info.get("settings")) if has_sheet(opened) else [],
        "tables": [table.as_dict() for table in opened.tables[1]],
        "problem": query.problem or marks.problem,
    }
    if wants_json(request):
        return json_reply(data)
    on_sheet = found.rows if as_sheet else ()
    return page(
        request,
        "run/table.html",
        **data,
        **_around(request, name, opened, query),
        has_sheet=has_sheet(opened),
        as_sheet=as_sheet,
        size=size,
        tiles=tiles(name, opened, on_sheet, query=query, run_cache=workbench(request).run_cache, marks=marks.marks),
        numbers=page_numbers(data["page"], pages),
        shown_keys=set(keys),
        marks=marks,
    )


def _around(request: Request, name: str, opened: OpenRun, query: RunQuery) -> dict[str, Any]:
    """What the page has and its JSON view does not, whichever rows it shows: choices, charts, links."""
    bench = workbench(request)
    figures, no_figures = opened.figures
    summary, grids = opened.tables
    return {
        "query": query,
        "badges": SIGNALS,
        "metrics": [column_data(key, reading) for key, reading in opened.readings.items()],
        "headline": signal_headline(opened, noun="pair" if opened.run.instrument == "fidelity" else "clip"),
        "others": shares_clips(bench, name),
        "figures": figures,
        "no_figures": no_figures,
        "summary": summary,
        "grids": grids,
        "answers": answers_data(opened),
        "sets": sets_data(opened.run) if opened.run.instrument == "distribution" else [],
        "coverage": coverage_of(opened.run),
        "local": on_this_machine(request, bench),
        "has_studies": not bench.viewing,
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
    return served_folder(workbench(request).runs, name, "run")


def served_folder(served: Mapping[str, Path], name: str, noun: str) -> Path:
    """The folder served under this name; names are ours, so no address reaches any other folder."""
    folder = served.get(name)
    if folder is None:
        raise Refusal(404, f"There is no {noun} of this name here. The home page lists what there is.")
    return folder


def open_run(request: Request, name: str) -> OpenRun:
    return workbench(request).run_cache.read(run_folder(request, name))


def trouble_page(request: Request, error: RushesError, *, what: str, name: str, facts: dict[str, object]) -> Response:
    """A run or board that cannot be read gets a page of its own: what is wrong, and what to do."""
    if wants_json(request):
        raise error
    context = {"what": what, "address": f"/{what}s/{name}", "name": name, "message": str(error), "facts": facts}
    return page(request, "run/trouble.html", status=409, **context)


@router.get("/thumbnails/{token}", response_model=None)
def picture(request: Request, token: str, v: str = "") -> Response:
    """A clip's picture by token; where none can be made, a drawn one that says so, or 404 for a program."""
    found = behind_token(token)
    if found is None:
        raise Refusal(404, "There is no such picture.", code="clip-missing")
    opened = open_run(request, found[0])
    row = opened.row(found[1])
    try:
        if row is None:
            raise MediaError("this run no longer has a clip of that name")
        jpeg = thumbnail(opened, row)
    except (MediaError, OSError) as error:
        if wants_json(request):
            raise Refusal(404, f"No picture: {error}", code="clip-missing") from None
        return Response(
            no_picture(str(error)), media_type="image/svg+xml", headers={"cache-control": "private, max-age=60"}
        )
    headers = {"cache-control": "private, max-age=3600" if v else "private, max-age=60"}
    return Response(jpeg, media_type="image/jpeg", headers=headers)


@router.get("/runs/{name}/tiles", response_model=None)
def more_tiles(request: Request, name: str) -> Response:
    """One piece of the contact sheet, as the page itself has its first."""
    opened = open_run(request, name)
    query = read_query(request.query_params, opened.readings)
    found = rows_of(opened).page(query, (query.page - 1) * SHEET_SIZE, SHEET_SIZE)
    marks = read_marks(run_folder(request, name)).marks
    shown = tiles(name, opened, found.rows, query=query, run_cache=workbench(request).run_cache, marks=marks)
    return page(request, "run/tiles.html", tiles=shown, query=query)


@router.post("/runs/{name}/triage", response_model=None)
def mark(request: Request, name: str, facts: Facts) -> Response:
    """One change to one clip's star, tags or comment; the mark as it is then. 409 with it where the comment changed."""
    clip, change = read_change(facts)
    if not rows_of(open_run(request, name)).has(clip):
        raise Refusal(404, "This run has no clip of that name.")
    try:
        made = change_mark(run_folder(request, name), clip, change)
    except CommentChanged as error:
        body = {"error": str(error), "code": "comment", "missing": [], "mark": error.mark.as_dict()}
        return JSONResponse(body, status_code=409)
    except RunError as error:
        raise Refusal(409, str(error), code="triage") from None
    return json_reply({"id": clip, "mark": made.as_dict()})


def read_change(facts: dict[str, Any]) -> tuple[str, Change]:
    """The clip and the change a request names; `InputError` for what is neither."""
    clip, star, comment, seen = facts.get("id"), facts.get("star"), facts.get("comment"), facts.get("seen", "")
    add, remove = facts.get("add", []), facts.get("remove", [])
    if not isinstance(clip, str) or not isinstance(seen, str):
        raise InputError("id and seen: expected text")
    if star is not None and not isinstance(star, bool):
        raise InputError(f"star: expected true or false; got {str(star)[:40]!r}")
    if comment is not None and not isinstance(comment, str):
        raise InputError("comment: expected text")
    for tags in (add, remove):
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise InputError("add and remove: expected lists of tags")
    return clip, Change(star=star, add=tuple(add), remove=tuple(remove), comment=comment, seen=seen)


@router.get("/runs/{name}/selection.{kind}", response_model=None)
def selection(request: Request, name: str, kind: str) -> Response:
    """The ticked clips (`only`), or all that the address keeps, as `txt` or `csv`."""
    return _file(request, name, kind, ticked=request.query_params.getlist("only"))


@router.post("/runs/{name}/selection.{kind}", response_model=None)
def long_selection(request: Request, name: str, kind: str, form: Form) -> Response:
    """The same for more clips than an address holds: `chosen` is a JSON list of ids."""
    return _file(request, name, kind, chosen=str(form.get("chosen", "")))


def _file(request: Request, name: str, kind: str, *, ticked: list[str] | None = None, chosen: str = "") -> Response:
    opened = open_run(request, name)
    query, rows = _asked(request, opened), rows_of(opened)
    ids = selected_ids(rows, query, ticked=ticked or (), chosen=chosen)
    if kind == "txt":
        text, media = path_list(opened.run, rows.places(ids)), "text/plain; charset=utf-8"
    elif kind == "csv":
        if opened.run.shards is not None and len(ids) > MOST_IN_CSV:
            asked = f"rushes query {shlex.quote(str(opened.run.path))} SQL"
            raise InputError(
                f"a CSV of this run has at most {MOST_IN_CSV:,} clips, {len(ids):,} match; {asked} has all"
            )
        marks = read_marks(run_folder(request, name)).marks
        text, media = selection_csv(rows, ids, column_keys(opened, query), marks), "text/csv; charset=utf-8"
    else:
        raise Refusal(404, "A selection is a list (.txt) or a table (.csv).")
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in name) or "clips"
    headers = {"content-disposition": f'attachment; filename="{safe}.{kind}"'}
    return Response(text.encode("utf-8", "surrogateescape"), media_type=media, headers=headers)


@router.post("/runs/{name}/links", response_model=None)
def links(request: Request, name: str, facts: Facts) -> Response:
    """A new folder of symbolic links to the selection, on this machine only; it never writes over anything."""
    if not on_this_machine(request, workbench(request)):
        raise Refusal(403, "A folder of links is made only from a browser on the server's own machine.", code="remote")
    opened = open_run(request, name)
    query, folder, ticked = _asked(request, opened), facts.get("folder", ""), facts.get("only", [])
    if not isinstance(folder, str) or not isinstance(ticked, list) or not all(isinstance(one, str) for one in ticked):
        raise InputError("folder: expected a path, and only: a list of clip ids")
    rows = rows_of(opened)
    made = make_links(opened.run, rows.places(selected_ids(rows, query, ticked=ticked)), folder)
    gone = f" {len(made.gone)} are not where the run found them: {', '.join(made.gone[:3])}" if made.gone else ""
    text = f"{made.made} link{'' if made.made == 1 else 's'} in {made.folder}.{gone}"
    return json_reply({"folder": str(made.folder), "made": made.made, "gone": list(made.gone), "text": text})


def _asked(request: Request, opened: OpenRun) -> RunQuery:
    query = read_query(request.query_params, opened.readings)
    if query.problem:
        raise InputError(query.problem)
    return query
