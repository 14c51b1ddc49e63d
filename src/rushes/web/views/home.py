"""The first page: boards, comparisons, runs and studies for whoever may see them, a way in for everyone else.

`rushes view` answers "/" and "/home.json" before the rest of the app is imported, so nothing heavy is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from rushes.web.home.data import home_data
from rushes.web.http.access import admin_session
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import json_reply, page, reply
from rushes.web.workbench import workbench

if TYPE_CHECKING:
    from rushes.study import AdminSession, StudySummary


def home(request: Request) -> Response:
    """The page, and its JSON view."""
    bench = workbench(request)
    if bench.viewing:
        return _home(request, [])
    who = admin_session(request)
    if who is not None and who.role in ("adjudicator", "member"):
        return _for_studies(request, who)
    if who is None:
        if wants_json(request):
            raise Refusal(401, "Sign in as the administrator first.", code="login")
        return page(request, "admin/welcome.html", first=not bench.service.admin_exists(), studies=(), name="")
    from rushes.study.as_data import summary_data

    return _home(request, [summary_data(summary) for summary in bench.service.studies()])


def _home(request: Request, studies: list[dict[str, object]]) -> Response:
    bench = workbench(request)
    roots = () if bench.discovery is None else bench.discovery.roots
    below = ", ".join(str(root.folder) for root in roots)
    name = roots[0].folder.resolve().name if bench.viewing and len(roots) == 1 else ""
    return reply(request, "admin/home.html", {"studies": studies, **home_data(bench)}, below=below, folder_name=name)


def _for_studies(request: Request, who: AdminSession) -> Response:
    """The studies in which somebody has a role; runs, which name systems, are not for them."""
    service = workbench(request).service
    roles = service.roles_of(who.name)
    studies = [
        {"name": one.name, "title": one.title, "role": role, "page": _first_page(one, role)}
        for one in service.studies()
        if (role := roles.get(one.name, who.role)) != "member"
    ]
    if wants_json(request):
        return json_reply({"studies": studies})
    return page(request, "admin/welcome.html", first=False, studies=studies, name=who.name, role=who.role)


def _first_page(study: StudySummary, role: str) -> str:
    if role != "adjudicator":
        return ""
    return "/adjudication" if study.method.startswith("pairs") else "/disagreements"
