"""Several runs together, in the browser: a suite's board, drawn by the code of `rushes board`; prompts × systems, of a
board or of served runs; and two runs against each other, judged as `rushes compare` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rushes.compare.board.board import board_as_data
from rushes.compare.board.page.clips import ClipKey, Thumbnail
from rushes.compare.board.page.page import page_style, render_served, served_script
from rushes.compare.board.prompt_grid import GridRow
from rushes.compare.runs.as_data import comparison_data
from rushes.compare.runs.changes import Change
from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.page.rows import metric_groups
from rushes.compare.runs.page.words import holm_lines, quiet_lines, unlike_lines
from rushes.compare.runs.results import BADGES, MetricComparison, transition_table
from rushes.compare.runs.set_distances import distance_table, more_than_chance, set_lines
from rushes.core.errors import InputError, RushesError
from rushes.core.words.definition_text import value_text
from rushes.present.pages.page import asset, verdict_html
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Run
from rushes.storage.runs.relocation import relocate
from rushes.web.boards.data import (
    GridQuery,
    OpenBoard,
    comparison_strip,
    comparison_titles,
    grid_data,
    open_comparison,
    read_grid_query,
    runs_board,
)
from rushes.web.clips.files import clip_address
from rushes.web.clips.numbers import LETTERS, MOST, Side
from rushes.web.clips.thumbnails import picture
from rushes.web.home.data import suite_status
from rushes.web.home.discovery import short_names
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import json_reply, page, reply
from rushes.web.http.routes import admin_router, with_json_view
from rushes.web.runs.data import timeline_data
from rushes.web.runs.shared_clips import shares_clips
from rushes.web.runs.summary import run_stamp
from rushes.web.views.clips import clip_row, jpeg_reply, side_by_side_page
from rushes.web.views.runs import open_run, run_folder, served_folder, trouble_page
from rushes.web.workbench import workbench

router = admin_router()

STATIC = "/static/board"
_GONE = Thumbnail(missing="The clip is no longer where the run found it.")


@with_json_view(router, "/boards/{name}")
def board(request: Request, name: str) -> Response:
    """The whole page; the JSON view is what `rushes board --json` prints of it."""
    folder = suite_folder(request, name)
    try:
        opened = open_board(request, name)
    except RushesError as error:
        return trouble_page(request, error, what="board", name=name, facts=suite_status(folder))
    if wants_json(request):
        shown = opened.page
        return json_reply(board_as_data(shown.data, shown.verdicts, opening=shown.opening, powered=shown.powered))
    urls = dict(_urls(request, opened))
    grid = f"/boards/{name}/grid" if opened.data.prompts else ""
    shown = replace(opened.page, thumbnails=_pictures(name, opened, urls))
    return HTMLResponse(render_served(shown, urls=urls, static=STATIC, twin=f"/boards/{name}.json", grid=grid))


@router.get("/boards/{name}/strips/{stamp}/{system}-{prompt}.jpg", response_model=None)
def strip(request: Request, name: str, stamp: str, system: int, prompt: int) -> Response:
    """Three frames of a clip, by its place on the board that has this stamp."""
    opened = open_board(request, name)
    names, prompts = opened.data.names, opened.data.prompts
    if opened.stamp != stamp or not (0 <= system < len(names) and 0 <= prompt < len(prompts)):
        raise Refusal(404, "The board has changed; reload its page.")
    key = names[system], prompts[prompt].id
    return jpeg_reply(workbench(request).board_cache.strip(opened, key) if key in opened.data.clips else b"")


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
    return served_folder(workbench(request).suites, name, "suite")


def open_board(request: Request, name: str) -> OpenBoard:
    return workbench(request).board_cache.read(suite_folder(request, name))


def _urls(request: Request, opened: OpenBoard) -> Iterator[tuple[ClipKey, str]]:
    """Where each clip plays from: the workbench's own address of a take; "" where it is gone or in a store."""
    cache = workbench(request).run_cache
    for key, clip in opened.data.clips.items():
        run = opened.clips.run(key)
        file = None if is_remote(clip.path) else relocate(clip.path, beside=run.path)
        yield key, "" if file is None else clip_address(cache.token(run.path, clip.subject), file)


def _pictures(name: str, opened: OpenBoard, urls: Mapping[ClipKey, str]) -> dict[ClipKey, Thumbnail]:
    """The address of every clip's film strip, which is taken when the browser asks for it."""
    data = opened.data
    systems = {system: number for number, system in enumerate(data.names)}
    prompts = {prompt.id: number for number, prompt in enumerate(data.prompts)}
    return {
        key: Thumbnail(jpeg=f"/boards/{name}/strips/{opened.stamp}/{systems[key[0]]}-{prompts[key[1]]}.jpg")
        if urls[key]
        else _GONE
        for key in data.clips
        if key[1] in prompts
    }


@with_json_view(router, "/boards/{name}/grid")
def board_grid(request: Request, name: str) -> Response:
    """The grid of a suite's board."""
    query = read_grid_query(request.query_params)
    board = open_board(request, name)

    def look(row: GridRow) -> str:
        systems = _systems(row)
        fields = [("prompt", row.prompt.id), *(("system", system) for system in systems)]
        return f"/boards/{name}/prompt?{urlencode(fields)}" if len(systems) > 1 else ""

    data = grid_data(board, query, run_cache=workbench(request).run_cache, look=look)
    crumbs = [(f"/boards/{name}", name)]
    return reply(request, "run/grid.html", data, heading=name, crumbs=crumbs, **_around(board, query))


@with_json_view(router, "/grid")
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
    around = _around(board, query)
    return reply(request, "run/grid.html", data, heading=", ".join(around["short"].values()), crumbs=[], **around)


def _around(board: OpenBoard, query: GridQuery) -> dict[str, Any]:
    """What both grids have beside their data."""
    return {"query": query, "every": board.data.names, "short": short_names(board.data.names)}


@with_json_view(router, "/boards/{name}/prompt")
def board_prompt(request: Request, name: str, prompt: str) -> Response:
    """The clips of one prompt on one clock: two to four systems of the board."""
    board = open_board(request, name)
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
        sides.append(Side(name=key[0], opened=opened, row=clip_row(opened, clip.subject), places=places))
    asked = next(one for one in board.data.prompts if one.id == prompt)
    crumbs = [(f"/boards/{name}", name), (f"/boards/{name}/grid", "grid")]
    return side_by_side_page(request, sides, title=asked.text or asked.id, crumbs=crumbs)


@router.get("/boards/{name}/timeline.json", response_model=None)
def board_timeline(request: Request, name: str, system: str, prompt: str) -> Response:
    """The series under one player, or `null` where the run kept none."""
    board = open_board(request, name)
    key = system, prompt
    if key not in board.data.clips:
        raise Refusal(404, "This board has no such clip.")
    opened = workbench(request).run_cache.read(board.clips.run(key).path)
    return json_reply({"timeline": timeline_data(opened, clip_row(opened, board.clips.clip(key).subject))})


@router.get("/grid/pictures/{token}.jpg", response_model=None)
def cell_picture(request: Request, token: str) -> Response:
    """One frame of a clip, by the token that a page has shown."""
    found = workbench(request).run_cache.behind(token)
    return jpeg_reply(b"" if found is None else picture(*found))


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


@with_json_view(router, "/compare/runs")
def comparison(request: Request, a: str, b: str) -> Response:
    """`a` and `b` are names of served runs. The JSON view is what `rushes compare --json` prints."""
    runs = open_run(request, a), open_run(request, b)
    first, second = runs[0].run, runs[1].run
    try:
        opened = open_comparison(*runs)
    except InputError as error:
        if wants_json(request) or {s.id for s in first.subjects} & {s.id for s in second.subjects}:
            raise
        return _nothing_shared(request, (a, first), (b, second), str(error))
    found = opened.found
    if wants_json(request):
        return json_reply(comparison_data(found))
    two = found.comparisons[0]
    title_a, title_b = comparison_titles(opened, (a, b))
    return page(
        request,
        "run/comparison.html",
        a=a,
        b=b,
        title_a=title_a,
        title_b=title_b,
        found=two,
        verdict=verdict_html(comparison_strip(opened, (a, b), runs, run_cache=workbench(request).run_cache)),
        family=found.family,
        groups=metric_groups(found),
        lines=holm_lines(found),
        quiet=quiet_lines(found, unlike=False),
        unlike=unlike_lines(two),
        changes=[
            (one.name, [_change(change, a, b) for change in one.largest])
            for one in (() if two.distances else _shown(found))
        ],
        badges=BADGES,
        transitions=[(before, counts) for before, *counts in transition_table(two.transitions).texts()],
        distances=distance_table(two.distances),
        distance_lines=[*set_lines(two.first, two.second), more_than_chance()] if two.distances else [],
        signatures=_signatures(found),
        json_view="/compare/runs.json?" + urlencode({"a": a, "b": b}),
    )


def _nothing_shared(request: Request, a: tuple[str, Run], b: tuple[str, Run], message: str) -> Response:
    """A page of its own: what was asked for cannot be had, and this is what can."""
    bench = workbench(request)
    known = [
        {
            "name": name,
            "count": len(run.subjects),
            "example": run.subjects[0].id if run.subjects else "",
            "others": shares_clips(bench, name),
        }
        for name, run in (a, b)
    ]
    facts = {"a": known[0], "b": known[1], "instrument": a[1].instrument, "message": message}
    return page(request, "run/no_shared.html", status=409, **facts)


def _change(change: Change, a: str, b: str) -> dict[str, str]:
    return {
        "subject": change.subject,
        "signature": change.first.signature,
        "text": f"{value_text(change.first)} → {value_text(change.second)}",
        "address": "/compare?" + urlencode({"a": f"{a}/{change.subject}", "b": f"{b}/{change.subject}"}),
    }


def _shown(found: RunsComparison) -> list[MetricComparison]:
    return [one for one in found.judged if not one.quiet]


def _signatures(found: RunsComparison) -> list[str]:
    numbers = (m for one in _shown(found) for m in (one.statistics.mean, one.p, one.adjusted_p))
    distances = (m for change in found.comparisons[0].distances for m in (change.first, change.second))
    return list(dict.fromkeys(m.signature for m in (*numbers, *distances)))
