"""The first page: studies, boards and runs for the administrator, a way in for everyone else."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from rushes.preference.study.as_data import summary_data
from rushes.web.access import is_admin
from rushes.web.board_cache import suite_status
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import page, reply
from rushes.web.run_cache import run_status
from rushes.web.workbench import workbench

router = APIRouter()


@router.get("/", response_model=None)
@router.get("/home.json", response_model=None, name="home_json")
def home(request: Request) -> Response:
    bench = workbench(request)
    if not is_admin(request):
        if wants_json(request):
            raise Refusal(401, "Sign in as the administrator first.", code="login")
        return page(request, "admin/welcome.html", first=not bench.service.admin_exists())
    studies = [summary_data(summary) for summary in bench.service.studies()]
    runs = [{"name": name, **run_status(path)} for name, path in bench.runs.items()]
    boards = [{"name": name, **suite_status(path)} for name, path in bench.suites.items()]
    return reply(request, "admin/home.html", {"studies": studies, "runs": runs, "boards": boards})
