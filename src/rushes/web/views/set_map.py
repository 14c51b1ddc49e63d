"""The map of two sets: the clips of a run of `rushes fvd` as dots, by their own features."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.distribution.feature_map import MapPoint
from rushes.errors import InputError, MediaError
from rushes.runs import Run
from rushes.web.access import admin
from rushes.web.cell_pictures import file_picture
from rushes.web.errors import Refusal, wants_json
from rushes.web.map_data import OpenMap, clip_file, map_data, open_map
from rushes.web.media import file_response
from rushes.web.pages import page, reply, with_twin
from rushes.web.run_data import run_head, take_page
from rushes.web.shared_clips import clip_digests
from rushes.web.take_files import playable
from rushes.web.views.runs import open_run, run_folder
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/runs/{name}/map")
def set_map(request: Request, name: str, features: str = "") -> Response:
    """The map, or what to type to get one."""
    opened = open_run(request, name)
    run = opened.run
    head = run_head(name, run_folder(request, name), opened)
    found = open_map(run, features) if run.instrument == "distribution" else None
    if found is None:
        why = "This run kept no features, so there is no map." if run.instrument == "distribution" else _OTHER
        if wants_json(request):
            raise InputError(f"{why} rushes fvd GEN GT --save-features -o RUN keeps them")
        sets = [subject.path for subject in run.subjects if subject.kind == "set"]
        return page(request, "run/no_map.html", status=404, run=head, why=why, sets=sets)
    data = map_data(found, _addresses(request, name, run, found))
    return reply(request, "run/map.html", {"run": head, "map": data})


_OTHER = "A map is of two sets of clips: it belongs to runs of rushes fvd."


@router.get("/runs/{name}/map/{number}.jpg", response_model=None)
def map_picture(request: Request, name: str, number: int, features: str = "") -> Response:
    """One frame of a clip, by its place on the map."""
    run, found = _opened(request, name, features)
    file = clip_file(run, _point(found, number))
    jpeg = b"" if file is None else file_picture(file)
    if not jpeg:
        raise Refusal(404, "There is no picture of this clip: it was moved or cannot be decoded.")
    return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


@router.api_route("/runs/{name}/map/{number}.clip", methods=["GET", "HEAD"], response_model=None)
def map_clip(request: Request, name: str, number: int, features: str = "") -> Response:
    """The clip itself, by its place on the map."""
    run, found = _opened(request, name, features)
    file = clip_file(run, _point(found, number))
    if file is None:
        raise Refusal(404, "There is no such clip, or its file was moved or deleted.", code="clip-missing")
    try:
        return file_response(request, playable(file, media=workbench(request).service.media_folder))
    except MediaError as error:
        raise Refusal(415, f"This clip cannot be played: {error}", code="clip-unplayable") from None


def _opened(request: Request, name: str, features: str) -> tuple[Run, OpenMap]:
    run = open_run(request, name).run
    found = open_map(run, features) if run.instrument == "distribution" else None
    if found is None:
        raise Refusal(404, "This run kept no features, so there is no map.")
    return run, found


def _point(found: OpenMap, number: int) -> MapPoint:
    if not 0 <= number < len(found.found.points):
        raise Refusal(404, "The map has no such clip.")
    return found.found.points[number]


def _addresses(request: Request, name: str, run: Run, found: OpenMap) -> dict[int, Mapping[str, str]]:
    """Picture and page of each clip: its own page where a served run measured the same file, else the clip itself."""
    pages = _pages(request)
    addresses: dict[int, Mapping[str, str]] = {}
    for number, point in enumerate(found.found.points):
        query = f"?features={found.features}"
        clip = f"/runs/{name}/map/{number}.clip{query}"
        own = pages.get(found.digests[point.set, point.name], "")
        addresses[number] = {"picture": f"/runs/{name}/map/{number}.jpg{query}", "address": own or clip}
    return addresses


def _pages(request: Request) -> dict[str, str]:
    """Pages of clips by the digest of their file, over the served runs."""
    found: dict[str, str] = {}
    for name, folder in workbench(request).runs.items():
        for digest, subject in clip_digests(folder).items():
            found.setdefault(digest, take_page(name, subject))
    return found
