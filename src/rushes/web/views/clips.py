"""Clips in the browser: one with its timeline, two to four on one clock, those of two sets on a map; their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from rushes.core.errors import InputError, MediaError
from rushes.core.reason import by_severity
from rushes.web.clips.files import file_of, playable
from rushes.web.clips.numbers import (
    LETTERS,
    MOST,
    Side,
    by_difference,
    clip_data,
    clip_numbers,
    number_groups,
    sides_data,
)
from rushes.web.clips.thumbnails import file_picture
from rushes.web.home.discovery import short_names, split_subject
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.media import file_response
from rushes.web.http.pages import json_reply, page, reply, see
from rushes.web.http.routes import admin_router, with_json_view
from rushes.web.runs.answers import coverage_of
from rushes.web.runs.cache import OpenRun, Row
from rushes.web.runs.cards import reason_data
from rushes.web.runs.data import asked_data, clip_page, run_head, timeline_data
from rushes.web.runs.map_data import OpenMap, clip_file, map_data, open_map
from rushes.web.runs.prompts import prompt_of
from rushes.web.runs.query import read_query
from rushes.web.runs.rows import rows_of
from rushes.web.runs.shared_clips import clip_digests, has_clip
from rushes.web.views.runs import open_run, run_folder
from rushes.web.workbench import workbench

router = admin_router()

_OTHER = "A map is of two sets of clips: it belongs to runs of rushes fvd."


@with_json_view(router, "/runs/{name}/clip")
def clip_page_of(request: Request, name: str, id: str) -> Response:
    opened = open_run(request, name)
    row = clip_row(opened, id)
    bench = workbench(request)
    query = read_query(request.query_params, opened.readings)
    beside = rows_of(opened).beside(query, id)
    side = Side(name=name, opened=opened, row=row, places={})
    numbers = clip_numbers(opened, row)
    data = {
        "run": run_head(name, run_folder(request, name), opened),
        "clip": clip_data(side, run_cache=bench.run_cache) | {"measurements": numbers},
        "asked": asked_data(opened, row),
        "place": beside.place + 1,
        "listed": beside.matching,
        "elsewhere": _in_other_runs(request, name, id),
    }
    around: dict[str, Any] = {"query": query, "before": beside.before, "after": beside.after}
    why = by_severity(row.entry.subject.why)
    return reply(
        request,
        "run/clip.html",
        data,
        groups=number_groups(numbers, of_clip=opened.run.instrument == "clip"),
        why=[reason_data(reason) for reason in why],
        prompt=prompt_of(opened.run, row.entry.subject),
        coverage=coverage_of(opened.run, row.entry.subject),
        **around,
    )


@router.get("/runs/{name}/timeline.json", response_model=None)
def timeline(request: Request, name: str, id: str) -> Response:
    """The compact series under the player, or `null` where the run kept none."""
    opened = open_run(request, name)
    return json_reply({"timeline": timeline_data(opened, clip_row(opened, id))})


@router.get("/runs/{name}/take", response_model=None)
def former_address(request: Request, name: str) -> Response:
    """On to the clip's page: its address until 0.3."""
    return see(f"/runs/{quote(name)}/clip?{request.url.query}")


router.get("/runs/{name}/take.json", response_model=None, name="former_json")(clip_page_of)


@router.api_route("/clips/{token}", methods=["GET", "HEAD"], response_model=None)
def clip(request: Request, token: str) -> Response:
    """A run's clip, by token only; made playable first where browsers could not show it."""
    found = workbench(request).run_cache.behind(token)
    return _played(request, None if found is None else file_of(found[0].run, found[1].entry.subject))


def _played(request: Request, file: Path | None) -> Response:
    if file is None:
        raise Refusal(404, "There is no such clip, or its file was moved or deleted.", code="clip-missing")
    try:
        return file_response(request, playable(file, media=workbench(request).media_folder))
    except MediaError as error:
        raise Refusal(415, f"This clip cannot be played: {error}", code="clip-unplayable") from None


def clip_row(opened: OpenRun, subject: str) -> Row:
    """The row of a clip; a page that says so where the run has none of that name."""
    row = opened.row(subject)
    if row is None:
        raise Refusal(404, "This run has no clip of that name.")
    return row


def _in_other_runs(request: Request, name: str, subject: str) -> list[dict[str, object]]:
    """The clip of the same name in the other runs, for a look side by side."""
    bench = workbench(request)
    others = [run for run, folder in bench.runs.items() if run != name and has_clip(bench, folder, subject)]
    short = short_names([name, *others])
    return [
        {
            "run": other,
            "short": short[other],
            "address": "/compare?" + urlencode({"a": f"{name}/{subject}", "b": f"{other}/{subject}"}),
            "clip": clip_page(other, subject),
        }
        for other in others
    ]


@with_json_view(router, "/compare")
def compare(request: Request) -> Response:
    """Clips side by side: `a` to `d` are RUN/ID; or `run` with two to four `only`, as the table's form sends it."""
    sides = []
    for name, subject in _asked(request):
        opened = open_run(request, name)
        sides.append(Side(name=name, opened=opened, row=clip_row(opened, subject), places={}))
    return side_by_side_page(request, sides)


def side_by_side_page(
    request: Request, sides: Sequence[Side], *, title: str = "", crumbs: Sequence[tuple[str, str]] = ()
) -> Response:
    """The page of these clips; `crumbs` are (address, text) of what it belongs to."""
    data = sides_data(sides, run_cache=workbench(request).run_cache)
    alike, differing = by_difference(data["numbers"])
    ids = list(dict.fromkeys(side.row.entry.subject.id for side in sides))
    return reply(
        request,
        "run/pair.html",
        data,
        clips=[(letter.upper(), data[letter]) for letter in LETTERS[: len(sides)]],
        letters=LETTERS[: len(sides)],
        heading=title or " and ".join(filter(None, (", ".join(ids[:-1]), ids[-1]))),
        crumbs=crumbs,
        short=short_names([side.name for side in sides]),
        alike=alike,
        differing=differing,
    )


def _asked(request: Request) -> list[tuple[str, str]]:
    params = request.query_params
    if params.get("run"):
        only = params.getlist("only")
        if not 2 <= len(only) <= MOST:
            raise InputError(f"Choose two to four clips to see side by side; {len(only)} are ticked.")
        return [(params["run"], subject) for subject in only]
    given = [params[letter] for letter in LETTERS if params.get(letter)]
    asked = [split_subject(workbench(request).runs, text) for text in given]
    if len(asked) < 2 or not all(name and subject for name, subject in asked):
        raise InputError("Side by side needs two clips: /compare?a=RUN/CLIP&b=RUN/CLIP, and c= and d= for more")
    return asked


@with_json_view(router, "/runs/{name}/map")
def set_map(request: Request, name: str, features: str = "") -> Response:
    """The map, or what to type to get one."""
    opened = open_run(request, name)
    run = opened.run
    head = run_head(name, run_folder(request, name), opened)
    found = open_map(run, features) if run.instrument == "distribution" else None
    if found is None:
        why = "This run has no saved features, so there is no map." if run.instrument == "distribution" else _OTHER
        if wants_json(request):
            raise InputError(f"{why} rushes fvd GEN GT --save-features -o RUN keeps them")
        sets = [subject.path for subject in run.subjects if subject.kind == "set"]
        return page(request, "run/no_map.html", status=404, run=head, why=why, sets=sets)
    data = map_data(found, _addresses(request, name, found))
    return reply(request, "run/map.html", {"run": head, "map": data})


@router.get("/runs/{name}/map/{number}.jpg", response_model=None)
def map_picture(request: Request, name: str, number: int, features: str = "") -> Response:
    """One frame of a clip, by its place on the map."""
    file = _map_file(request, name, features, number)
    return jpeg_reply(b"" if file is None else file_picture(file), gone="was moved or")


def jpeg_reply(jpeg: bytes, *, gone: str = "was moved, has changed or") -> Response:
    """A clip's picture, kept by the browser for an hour; 404 where there is none."""
    if not jpeg:
        raise Refusal(404, f"There is no picture of this clip: it {gone} cannot be decoded.")
    return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


@router.api_route("/runs/{name}/map/{number}.clip", methods=["GET", "HEAD"], response_model=None)
def map_clip(request: Request, name: str, number: int, features: str = "") -> Response:
    """The clip itself, by its place on the map."""
    return _played(request, _map_file(request, name, features, number))


def _map_file(request: Request, name: str, features: str, number: int) -> Path | None:
    run = open_run(request, name).run
    found = open_map(run, features) if run.instrument == "distribution" else None
    if found is None:
        raise Refusal(404, "This run has no saved features, so there is no map.")
    if not 0 <= number < len(found.found.points):
        raise Refusal(404, "The map has no such clip.")
    return clip_file(run, found.found.points[number])


def _addresses(request: Request, name: str, found: OpenMap) -> list[dict[str, str]]:
    """Picture and page of each clip: its own page where a served run measured the same file, else the clip itself."""
    pages, query = _pages(request), f"?features={found.features}"
    starts = [f"/runs/{name}/map/{number}" for number, _ in enumerate(found.found.points)]
    own = [pages.get(found.digests[point.set, point.name], "") for point in found.found.points]
    return [
        {"picture": f"{start}.jpg{query}", "address": place or f"{start}.clip{query}"}
        for start, place in zip(starts, own, strict=True)
    ]


def _pages(request: Request) -> dict[str, str]:
    """Pages of clips by the digest of their file, over the served runs."""
    found: dict[str, str] = {}
    for name, folder in workbench(request).runs.items():
        for digest, subject in clip_digests(folder).items():
            found.setdefault(digest, clip_page(name, subject))
    return found
