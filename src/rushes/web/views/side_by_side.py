"""Two to four clips on one clock."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from rushes.errors import InputError
from rushes.web.access import admin
from rushes.web.discovery import split_subject
from rushes.web.pages import reply, with_twin
from rushes.web.side_by_side import LETTERS, MOST, Side, sides_data
from rushes.web.views.runs import open_run
from rushes.web.views.takes import clip_row
from rushes.web.workbench import workbench

router = APIRouter(dependencies=[Depends(admin)])


@with_twin(router, "/compare")
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
    ids = list(dict.fromkeys(side.row.entry.subject.id for side in sides))
    return reply(
        request,
        "run/pair.html",
        data,
        clips=[(letter.upper(), data[letter]) for letter in LETTERS[: len(sides)]],
        letters=LETTERS[: len(sides)],
        heading=title or " and ".join(filter(None, (", ".join(ids[:-1]), ids[-1]))),
        crumbs=crumbs,
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
