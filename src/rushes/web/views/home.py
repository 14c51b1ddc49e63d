"""The first page: studies, boards and runs for the administrator, a way in for everyone else."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study.as_data import summary_data
from rushes.web.access import admin_session
from rushes.web.board_cache import suite_status
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import json_reply, page, reply
from rushes.web.run_cache import run_status
from rushes.web.workbench import workbench

router = APIRouter()


@router.get("/", response_model=None)
@router.get("/home.json", response_model=None, name="home_json")
def home(request: Request) -> Response:
    bench = workbench(request)
    who = admin_session(request)
    if who is not None and who.role == "adjudicator":
        return _for_adjudicator(request, who.name)
    if who is None:
        if wants_json(request):
            raise Refusal(401, "Sign in as the administrator first.", code="login")
        return page(request, "admin/welcome.html", first=not bench.service.admin_exists(), studies=())
    studies = [summary_data(summary) for summary in bench.service.studies()]
    runs = [{"name": name, **run_status(path)} for name, path in bench.runs.items()]
    boards = [{"name": name, **suite_status(path)} for name, path in bench.suites.items()]
    return reply(request, "admin/home.html", {"studies": studies, "runs": runs, "boards": boards})


def _for_adjudicator(request: Request, name: str) -> Response:
    """Where to decide; runs and results, which name systems, are not for this role."""
    studies = [{"name": one.name, "title": one.title} for one in workbench(request).service.studies()]
    if wants_json(request):
        return json_reply({"studies": studies})
    return page(request, "admin/welcome.html", first=False, studies=studies, name=name)
