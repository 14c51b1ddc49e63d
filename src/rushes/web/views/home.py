"""The first page: studies and runs for the administrator, a way in for everyone else."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from rushes.web.access import is_admin
from rushes.web.errors import Refusal, wants_json
from rushes.web.pages import page, reply
from rushes.web.studyfacts import summary_facts
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
    studies = [summary_facts(summary) for summary in bench.service.studies()]
    runs = [{"name": name, **run_facts(path)} for name, path in bench.runs.items()]
    return reply(request, "admin/home.html", {"studies": studies, "runs": runs})


def run_facts(path: Path) -> dict[str, object]:
    """What `run.json` says about a run, without reading its numbers: the home page stays quick."""
    try:
        info = json.loads((path / "run.json").read_bytes())
        return {"instrument": str(info["instrument"]), "status": str(info["status"]), "path": str(path)}
    except FileNotFoundError:
        return {"instrument": "–", "status": "not found", "path": str(path)}
    except (OSError, ValueError, KeyError, TypeError):
        return {"instrument": "–", "status": "cannot be read", "path": str(path)}
