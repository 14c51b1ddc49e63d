"""Prompts × systems: of a suite's board, and of served runs that share clips."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError, RunError
from rushes.suite.prompt_grid import GridRow
from rushes.web.access import admin
from rushes.web.cell_pictures import picture
from rushes.web.errors import Refusal
from rushes.web.grid_data import GridBoard, grid_data, read_grid_query, runs_board
from rushes.web.pages import json_reply, reply, with_twin
from rushes.web.run_cache import run_stamp
from rushes.web.run_data import timeline_data
from rushes.web.side_by_side import LETTERS, MOST, Side
from rushes.web.views.boards import suite_folder
from rushes.web.views.runs import run_folder
from rushes.web.views.side_by_side import side_by_side_page
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/boards/{name}/grid")
def board_grid(request: Request, name: str) -> Response:
    """The grid of a suite's board."""
    query = read_grid_query(request.query_params)
    board = _board(request, name)

    def look(row: GridRow) -> str:
        systems = _systems(row)
        fields = [("prompt", row.prompt.id), *(("system", system) for system in systems)]
        return f"/boards/{name}/prompt?{urlencode(fields)}" if len(systems) > 1 else ""

    data = grid_data(board, query, run_cache=workbench(request).run_cache, look=look)
    crumbs = [(f"/boards/{name}", name)]
    return reply(request, "run/grid.html", data, query=query, every=board.data.names, heading=name, crumbs=crumbs)


@with_twin(router, "/grid")
def runs_grid(request: Request, runs: str = "") -> Response:
    """The grid of served runs, named with commas between them; each is a system."""
    served = _named(request, runs)
    board = runs_board(served, [run_stamp(folder) for folder in served.values()])
    query = read_grid_query(request.query_params, fixed=[("runs", runs)])

    def look(row: GridRow) -> str:
        systems = _systems(row)
        subjects = [(system, board.data.clips[system, row.prompt.id].subject) for system in systems]
        fields = {letter: f"{run}/{subject}" for letter, (run, subject) in zip(LETTERS, subjects, strict=False)}
        return "/compare?" + urlencode(fields) if len(systems) > 1 else ""

    data = grid_data(board, query, run_cache=workbench(request).run_cache, look=look)
    heading = ", ".join(served)
    return reply(request, "run/grid.html", data, query=query, every=board.data.names, heading=heading, crumbs=[])


@with_twin(router, "/boards/{name}/prompt")
def board_prompt(request: Request, name: str, prompt: str) -> Response:
    """The clips of one prompt on one clock: two to four systems of the board."""
    board = _board(request, name)
    systems = request.query_params.getlist("system")
    keys = [(system, prompt) for system in systems if (system, prompt) in board.data.clips]
    if not 2 <= len(keys) <= MOST or len(keys) < len(systems):
        raise InputError("Side by side needs two to four systems of the board that have a clip for this prompt.")
    sides = []
    for key in keys:
        run, clip = board.clips.run(key), board.clips.clip(key)
        opened = workbench(request).run_cache.read(run.path)
        place = urlencode({"system": key[0], "prompt": prompt})
        places = {"run": key[0], "address": "", "timeline": f"/boards/{name}/timeline.json?{place}"}
        sides.append(Side(name=key[0], opened=opened, row=opened.by_id[clip.subject], places=places))
    asked = next(one for one in board.data.prompts if one.id == prompt)
    crumbs = [(f"/boards/{name}", name), (f"/boards/{name}/grid", "grid")]
    return side_by_side_page(request, sides, title=asked.text or asked.id, crumbs=crumbs)


@router.get("/boards/{name}/timeline.json", response_model=None)
def board_timeline(request: Request, name: str, system: str, prompt: str) -> Response:
    """The series under one player, or `null` where the run kept none."""
    board = _board(request, name)
    key = system, prompt
    if key not in board.data.clips:
        raise Refusal(404, "This board has no such clip.")
    opened = workbench(request).run_cache.read(board.clips.run(key).path)
    return json_reply({"timeline": timeline_data(opened, opened.by_id[board.clips.clip(key).subject])})


@router.get("/grid/pictures/{token}.jpg", response_model=None)
def cell_picture(request: Request, token: str) -> Response:
    """One frame of a clip, by the token that a page has shown."""
    cache = workbench(request).run_cache
    found = cache.take(token)
    try:
        opened = None if found is None else cache.read(found[0])
    except RunError:
        opened = None
    row = None if opened is None or found is None else opened.by_id.get(found[1])
    jpeg = b"" if opened is None or row is None else picture(opened, row)
    if not jpeg:
        raise Refusal(404, "There is no picture of this clip: it was moved, has changed or cannot be decoded.")
    return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})


def _board(request: Request, name: str) -> GridBoard:
    opened = workbench(request).board_cache.read(suite_folder(request, name))
    return GridBoard(data=opened.page.data, verdicts=opened.page.verdicts, clips=opened.clips)


def _systems(row: GridRow) -> Sequence[str]:
    """Up to four systems with a clip: those that are marked first, then in the board's order."""
    have = [cell for cell in row.cells if cell.clip is not None]
    chosen = sorted(have, key=lambda cell: not cell.mark)[:MOST]
    return [cell.system for cell in have if cell in chosen]


def _named(request: Request, runs: str) -> Mapping[str, Path]:
    names = dict.fromkeys(_split(workbench(request).runs, runs))
    if len(names) < 2:
        raise InputError("A grid needs two runs or more: /grid?runs=RUN,RUN")
    return {name: run_folder(request, name) for name in names}


def _split(served: Collection[str], text: str) -> list[str]:
    """Names between commas; a served name that has commas itself stays whole.

    >>> _split({"a,b", "c"}, "a,b, c,"), _split((), "x,y")
    (['a,b', 'c'], ['x', 'y'])
    """
    parts, names = text.split(","), []
    while parts:
        ends = range(len(parts), 1, -1)
        size = next((end for end in ends if ",".join(parts[:end]).strip() in served), 1)
        names.append(",".join(parts[:size]).strip())
        parts = parts[size:]
    return [name for name in names if name]
