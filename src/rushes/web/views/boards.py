"""A suite's board in the browser: the page that `rushes board` writes, drawn by the same code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rushes.errors import RushesError
from rushes.media.find import relocate
from rushes.remote.address import is_remote
from rushes.report.page import asset
from rushes.suite.board_as_data import board_as_data
from rushes.suite.board_page import page_style, render_served, served_script
from rushes.suite.board_page_clips import ClipKey
from rushes.suite.board_page_strips import Thumbnail
from rushes.web.access import admin
from rushes.web.board_cache import OpenBoard
from rushes.web.errors import Refusal, wants_json
from rushes.web.found_summaries import suite_status
from rushes.web.pages import json_reply, page, with_twin
from rushes.web.take_files import take_address
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])

STATIC = "/static/board"
_GONE = Thumbnail(missing="The clip is not where the run found it.")


@with_twin(router, "/boards/{name}")
def board(request: Request, name: str) -> Response:
    """The whole page; the twin is what `rushes board --json` prints of it."""
    folder = suite_folder(request, name)
    try:
        opened = workbench(request).board_cache.read(folder)
    except RushesError as error:
        if wants_json(request):
            raise
        facts = suite_status(folder)
        context = {"what": "board", "address": f"/boards/{name}", "name": name, "message": str(error), "facts": facts}
        return page(request, "run/trouble.html", status=409, **context)
    if wants_json(request):
        shown = opened.page
        return json_reply(board_as_data(shown.data, shown.verdicts, found=str(shown.opening)))
    urls = dict(_urls(request, opened))
    grid = f"/boards/{name}/grid" if opened.page.data.prompts else ""
    shown = replace(opened.page, thumbnails=_pictures(name, opened, urls))
    return HTMLResponse(render_served(shown, urls=urls, static=STATIC, twin=f"/boards/{name}.json", grid=grid))


@router.get("/boards/{name}/strips/{stamp}/{system}-{prompt}.jpg", response_model=None)
def strip(request: Request, name: str, stamp: str, system: int, prompt: int) -> Response:
    """Three frames of a clip, by its place on the board that has this stamp."""
    cache = workbench(request).board_cache
    opened = cache.read(suite_folder(request, name))
    names, prompts = opened.page.data.names, opened.page.data.prompts
    if opened.stamp != stamp or not (0 <= system < len(names) and 0 <= prompt < len(prompts)):
        raise Refusal(404, "The board has changed since; load its page again.")
    key = names[system], prompts[prompt].id
    picture = cache.strip(opened, key) if key in opened.page.data.clips else b""
    if not picture:
        raise Refusal(404, "There is no picture of this clip: it was moved, has changed or cannot be decoded.")
    return Response(picture, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


@router.get(f"{STATIC}/{{name}}", response_model=None)
def static_file(name: str) -> Response:
    """The style sheet and the modules that a written board has inside: one board, not two."""
    if name == "board.css":
        text, kind = page_style(), "text/css"
    elif name == "verdict.css":
        text, kind = asset("verdict.css"), "text/css"
    else:
        try:
            text, kind = served_script(name), "text/javascript"
        except KeyError:
            raise Refusal(404, "There is no such page.") from None
    return Response(text, media_type=kind, headers={"cache-control": "no-cache"})


def suite_folder(request: Request, name: str) -> Path:
    """The folder served under this name; names are ours, so no address reaches any other folder."""
    folder = workbench(request).suites.get(name)
    if folder is None:
        raise Refusal(404, "No suite of this name is served. The home page lists those that are.")
    return folder


def _urls(request: Request, opened: OpenBoard) -> Iterator[tuple[ClipKey, str]]:
    """Where each clip plays from: the workbench's own address of a take; "" where it is gone or in a store."""
    cache = workbench(request).run_cache
    for key, clip in opened.page.data.clips.items():
        run = opened.clips.run(key)
        file = None if is_remote(clip.path) else relocate(clip.path, beside=run.path)
        yield key, "" if file is None else take_address(cache.token(run.path, clip.subject), file)


def _pictures(name: str, opened: OpenBoard, urls: Mapping[ClipKey, str]) -> dict[ClipKey, Thumbnail]:
    """The address of every clip's film strip, which is taken when the browser asks for it."""
    data = opened.page.data
    systems = {system: number for number, system in enumerate(data.names)}
    prompts = {prompt.id: number for number, prompt in enumerate(data.prompts)}
    return {
        key: Thumbnail(jpeg=f"/boards/{name}/strips/{opened.stamp}/{systems[key[0]]}-{prompts[key[1]]}.jpg")
        if urls[key]
        else _GONE
        for key in data.clips
        if key[1] in prompts
    }
