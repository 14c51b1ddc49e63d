"""What the home page asks for after it is shown: verdicts, the cards of large runs, and whether anything is new."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError, RushesError
from rushes.web.access import admin
from rushes.web.errors import Refusal
from rushes.web.home_data import THUMBNAILS, compare_address, home_stamp, run_card, suite_of
from rushes.web.pages import json_reply, page, see
from rushes.web.security import csrf_token
from rushes.web.shared_clips import shares_clips
from rushes.web.views import home
from rushes.web.workbench import workbench

router = APIRouter()
inside = APIRouter(dependencies=[Depends(admin)])

router.get("/", response_model=None)(home.home)
router.get("/home.json", response_model=None, name="home_json")(home.home)


@router.get("/csrf.json", response_model=None)
def fresh_token(request: Request) -> Response:
    """A fresh token for a page that was open for too long; the form stays as it is."""
    return json_reply({"csrf": csrf_token(request)})


@inside.get("/home/stamp.json", response_model=None)
def stamp(request: Request) -> Response:
    """Changes when the page would."""
    return json_reply({"stamp": home_stamp(workbench(request))})


@inside.get("/home/cards", response_model=None)
def cards(request: Request, run: Annotated[list[str], Query(max_length=50)]) -> Response:
    """Cards whose runs were too large to count before the page was sent."""
    bench = workbench(request)
    shown = [run_card(bench, name, suite=suite_of(name, bench.suites)) for name in run if name in bench.runs]
    return page(request, "admin/cards.html", runs=shown)


@inside.get("/home/shares.json", response_model=None)
def shares(request: Request, run: str) -> Response:
    """Which runs this one can be compared with."""
    bench = workbench(request)
    if run not in bench.runs:
        raise Refusal(404, "No run of this name is served. The home page lists those that are.")
    return json_reply({"runs": shares_clips(bench, run)})


@inside.get("/home/picture", response_model=None)
def picture(request: Request, run: str, id: str) -> Response:
    """On to the picture of a run's clip."""
    if run not in workbench(request).runs or find_spec(THUMBNAILS) is None:
        raise Refusal(404, "There is no such picture.")
    return see(str(import_module(THUMBNAILS).thumbnail_address(run, id)))


@inside.get("/home/compare", response_model=None)
def compare(request: Request, run: Annotated[list[str] | None, Query(max_length=50)] = None) -> Response:
    """The comparison of the two ticked runs; the older one is A."""
    ticked = run or []
    if len(ticked) != 2:
        raise InputError(f"Tick two runs to compare them; {len(ticked)} are ticked.")
    bench = workbench(request)
    if unknown := [name for name in ticked if name not in bench.runs]:
        raise Refusal(404, f"No run called {unknown[0]} is served. The home page lists those that are.")
    ticked.sort(key=lambda name: (bench.summaries.head(bench.runs[name]).started, name))
    return see(compare_address(*ticked))


@inside.get("/home/verdict.json", response_model=None)
def verdict(request: Request, board: str = "", a: str = "", b: str = "") -> Response:
    """What a board, or a comparison of two runs, says in its first words; or why it says nothing."""
    try:
        return json_reply({"verdict": _board(request, board) if board else _pair(request, a, b)})
    except RushesError as error:
        return json_reply({"verdict": "", "problem": str(error)})


def _board(request: Request, name: str) -> str:
    from rushes.web.views.boards import suite_folder

    return str(workbench(request).board_cache.read(suite_folder(request, name)).page.opening)


def _pair(request: Request, a: str, b: str) -> str:
    from rushes.suite.compare_many import compare_all
    from rushes.suite.compare_page_words import opening, run_name
    from rushes.web.views.runs import open_run

    one, other = open_run(request, a), open_run(request, b)
    key = (one.stamp, other.stamp)
    kept = workbench(request).verdicts
    if key not in kept:
        told = opening(compare_all((one.run, other.run), top=0))
        # Folders of one name in two places are common; the card has both paths, under their letters, and the count.
        told = told.replace(f"{run_name(other.run)} against {run_name(one.run)}", "B against A", 1)
        kept[key] = re.sub(r"^B against A, [\d,]+ clips? in both: ", "B against A: ", told)
    return kept[key]


router.include_router(inside)
