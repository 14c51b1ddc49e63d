"""What the home page asks for after it is shown: verdicts, the cards of large runs, and whether anything is new."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from rushes.compare.runs.page.words import opening
from rushes.core.errors import InputError, RushesError
from rushes.web.boards.data import open_comparison
from rushes.web.clips.thumbnails import thumbnail_address
from rushes.web.home.data import compare_address, home_stamp, run_card, suite_of
from rushes.web.http.access import admin
from rushes.web.http.errors import Refusal
from rushes.web.http.pages import json_reply, page, see
from rushes.web.http.security import csrf_token
from rushes.web.runs.answers import answers_data
from rushes.web.runs.shared_clips import shares_clips
from rushes.web.views import home
from rushes.web.views.boards import open_board
from rushes.web.views.runs import open_run, run_folder
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
    run_folder(request, run)  # a refusal where none of this name is served
    return json_reply({"runs": shares_clips(workbench(request), run)})


@inside.get("/home/picture", response_model=None)
def picture(request: Request, run: str, id: str) -> Response:
    """On to the picture of a run's clip."""
    if run not in workbench(request).runs:
        raise Refusal(404, "There is no such picture.")
    return see(thumbnail_address(run, id))


@inside.get("/home/numbers", response_model=None)
def numbers(request: Request, run: str) -> Response:
    """The numbers that a run was made for, for its card."""
    opened = open_run(request, run)
    return page(request, "admin/numbers.html", answers=answers_data(opened), summary=opened.tables[0])


@inside.get("/home/compare", response_model=None)
def compare(request: Request, run: Annotated[list[str] | None, Query(max_length=50)] = None) -> Response:
    """The comparison of the two ticked runs, the older one being A; of more than two, their prompts × systems."""
    ticked = run or []
    if len(ticked) < 2:
        raise InputError(f"Tick two runs or more to compare them; {len(ticked)} ticked.")
    bench = workbench(request)
    if unknown := [name for name in ticked if name not in bench.runs]:
        raise Refusal(404, f"There is no run called {unknown[0]} here. The home page lists them all.")
    ticked.sort(key=lambda name: (bench.summaries.head(bench.runs[name]).started, name))
    if len(ticked) > 2:
        return see("/grid?" + urlencode({"runs": ",".join(ticked)}))
    return see(compare_address(*ticked))


@inside.get("/home/verdict.json", response_model=None)
def verdict(request: Request, board: str = "", a: str = "", b: str = "") -> Response:
    """What a board, or a comparison of two runs, says in its first words; or why it says nothing."""
    try:
        if board:
            return json_reply({"verdict": open_board(request, board).page.opening.headline})
        # Folders of one name in two places are common; the card has both paths, under their letters, and the count.
        found = open_comparison(open_run(request, a), open_run(request, b)).found
        return json_reply({"verdict": opening(found, ("A", "B"))})
    except RushesError as error:
        return json_reply({"verdict": "", "problem": str(error)})


router.include_router(inside)
