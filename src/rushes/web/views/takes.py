"""One take with its timeline, two takes on one clock, and the clips themselves."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from rushes.core import difference
from rushes.core.definition import describe_difference
from rushes.errors import InputError, MediaError, RunError
from rushes.web.access import admin
from rushes.web.discovery import split_subject
from rushes.web.errors import Refusal
from rushes.web.media import file_response
from rushes.web.pages import json_reply, reply, with_twin
from rushes.web.run_cache import OpenRun, Reading, Row
from rushes.web.run_data import run_head, take_data, take_page, timeline_data, value_data
from rushes.web.run_query import chosen, read_query
from rushes.web.take_files import playable, take_file
from rushes.web.views.runs import open_run, run_folder
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/runs/{name}/take")
def take(request: Request, name: str, id: str) -> Response:
    opened = open_run(request, name)
    row = _row(opened, id)
    bench = workbench(request)
    query = read_query(request.query_params, opened.readings)
    listed = [other.entry.subject.id for other in chosen(opened, query)]
    place = listed.index(id) if id in listed else -1
    before = listed[place - 1] if place > 0 else ""
    after = listed[place + 1] if 0 <= place < len(listed) - 1 else ""
    data = {
        "run": run_head(name, run_folder(request, name), opened),
        "take": take_data(name, opened, row, run_cache=bench.run_cache),
        "place": place + 1,
        "listed": len(listed),
        "elsewhere": _in_other_runs(request, name, id),
    }
    return reply(request, "run/take.html", data, query=query, before=before, after=after)


@router.get("/runs/{name}/timeline.json", response_model=None)
def timeline(request: Request, name: str, id: str) -> Response:
    """The compact series under the player, or `null` where the run kept none."""
    opened = open_run(request, name)
    return json_reply({"timeline": timeline_data(opened, _row(opened, id))})


@with_twin(router, "/compare")
def compare(request: Request) -> Response:
    """Two takes side by side: `a` and `b` are RUN/ID; or `run` with two `only`, as the table's form sends it."""
    (name_a, id_a), (name_b, id_b) = _two(request)
    opened_a, opened_b = open_run(request, name_a), open_run(request, name_b)
    row_a, row_b = _row(opened_a, id_a), _row(opened_b, id_b)
    run_cache = workbench(request).run_cache
    data = {
        "a": take_data(name_a, opened_a, row_a, run_cache=run_cache),
        "b": take_data(name_b, opened_b, row_b, run_cache=run_cache),
        "numbers": side_by_side(row_a, row_b, opened_b.readings | opened_a.readings),
    }
    return reply(request, "run/pair.html", data)


@router.api_route("/takes/{token}", methods=["GET", "HEAD"], response_model=None)
def clip(request: Request, token: str) -> Response:
    """A run's clip, by token only; made playable first where browsers could not show it."""
    file = _by_token(request, token)
    if file is None:
        raise Refusal(404, "There is no such take, or its file was moved or deleted.", code="clip-missing")
    try:
        return file_response(request, playable(file, media=workbench(request).media_folder))
    except MediaError as error:
        raise Refusal(415, f"This take cannot be played: {error}", code="clip-unplayable") from None


@router.get("/static/timeline.js", response_model=None)
def timeline_module() -> Response:
    """The canvas module that the report uses too: one drawing of a timeline, not two."""
    with as_file(files("rushes.report") / "assets" / "timeline.js") as source:
        return FileResponse(source, media_type="text/javascript", headers={"cache-control": "no-cache"})


def side_by_side(a: Row, b: Row, readings: Mapping[str, Reading]) -> list[dict[str, object]]:
    """Every reading of two takes, and their difference where the signatures are equal; else why there is none."""
    lines: list[dict[str, object]] = []
    for key in dict.fromkeys([*a.values, *b.values]):
        one, other = a.values.get(key), b.values.get(key)
        name = readings[key].label
        line: dict[str, object] = {
            "key": key,
            "a": None if one is None else value_data(one, reading=name),
            "b": None if other is None else value_data(other, reading=name),
            "difference": None,
            "why": "",
        }
        if one is None or other is None:
            line["why"] = "one of the runs does not have it"
        elif one.signature != other.signature:
            line["why"] = describe_difference(one.signature, other.signature)
        else:
            line["difference"] = value_data(difference(other, one))
        lines.append(line)
    return lines


def _row(opened: OpenRun, subject: str) -> Row:
    row = opened.by_id.get(subject)
    if row is None:
        raise Refusal(404, "This run has no take of that name.")
    return row


def _two(request: Request) -> tuple[tuple[str, str], tuple[str, str]]:
    params = request.query_params
    if params.get("run"):
        only = params.getlist("only")
        if len(only) != 2:
            raise InputError(f"Choose two takes to see side by side; {len(only)} are ticked.")
        return (params["run"], only[0]), (params["run"], only[1])
    a, b = (split_subject(workbench(request).runs, params.get(side, "")) for side in ("a", "b"))
    if not (all(a) and all(b)):
        raise InputError("Side by side needs two takes: /compare?a=RUN/TAKE&b=RUN/TAKE")
    return a, b


def _in_other_runs(request: Request, name: str, subject: str) -> list[dict[str, object]]:
    """The take of the same name in the other runs, for a look side by side."""
    found: list[dict[str, object]] = []
    bench = workbench(request)
    for other, folder in bench.runs.items():
        if other == name:
            continue
        try:
            known = subject in bench.run_cache.read(folder).by_id
        except RunError:
            continue  # that run's own page says what is wrong with it
        if known:
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
