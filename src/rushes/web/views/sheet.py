"""What the page of a run asks for by itself: pictures, more tiles, marks on clips, and the selection as a file."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rushes.errors import InputError, MediaError, RunError
from rushes.web.access import admin, posted
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import json_reply, page
from rushes.web.rows import rows_of
from rushes.web.run_cache import OpenRun
from rushes.web.run_data import column_keys
from rushes.web.run_query import RunQuery, read_query
from rushes.web.selection import make_links, path_list, selected_ids, selection_csv
from rushes.web.sheet_data import SHEET_SIZE, tiles
from rushes.web.thumbnails import behind_token, no_picture, thumbnail
from rushes.web.triage import Change, CommentChanged, change_mark, read_marks
from rushes.web.views.runs import on_this_machine, open_run, run_folder
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])
Form = Annotated[FormData, Depends(posted)]
Facts = Annotated[dict[str, Any], Body()]

MOST_IN_CSV = 10_000
"""Clips of a run in shards: their numbers are held at once."""


@router.get("/thumbnails/{token}", response_model=None)
def picture(request: Request, token: str, v: str = "") -> Response:
    """A clip's picture by token; where none can be made, a drawn one that says so, or 404 for a program."""
    found = behind_token(token)
    if found is None:
        raise Refusal(404, "There is no such picture.", code="clip-missing")
    opened = open_run(request, found[0])
    row = opened.by_id.get(found[1])
    try:
        if row is None:
            raise MediaError("this run has no clip of that name any more")
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
    shown = tiles(name, opened, found.rows, run_cache=workbench(request).run_cache, marks=marks)
    return page(request, "run/tiles.html", tiles=shown, query=query)


@router.post("/runs/{name}/triage", response_model=None)
def mark(request: Request, name: str, facts: Facts) -> Response:
    """One change to one clip's star, tags or comment; the mark as it is then. 409 with it where the comment changed."""
    clip, change = read_change(facts)
    if clip not in open_run(request, name).by_id:
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
    query, rows = read_query(request.query_params, opened.readings), rows_of(opened)
    if query.problem:
        raise InputError(query.problem)
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
