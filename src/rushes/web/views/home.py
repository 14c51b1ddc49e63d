"""The first page: boards, comparisons, runs and studies for whoever may see them, a way in for everyone else.

`rushes view` answers "/" and "/home.json" before the rest of the app is imported, so nothing heavy is imported here.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rushes.web.home.data import home_data
from rushes.web.http.access import admin_session
from rushes.web.http.errors import Refusal, wants_json
from rushes.web.http.pages import json_reply, page, reply
from rushes.web.workbench import workbench


def home(request: Request) -> Response:
    """The page, and its JSON view."""
    bench = workbench(request)
    if bench.viewing:
        return _home(request, [])
    who = admin_session(request)
    if who is not None and who.role == "adjudicator":
        return _for_adjudicator(request, who.name)
    if who is None:
        if wants_json(request):
            raise Refusal(401, "Sign in as the administrator first.", code="login")
        return page(request, "admin/welcome.html", first=not bench.service.admin_exists(), studies=())
    from rushes.study.as_data import summary_data

    return _home(request, [summary_data(summary) for summary in bench.service.studies()])


def _home(request: Request, studies: list[dict[str, object]]) -> Response:
    bench = workbench(request)
    roots = () if bench.discovery is None else bench.discovery.roots
    below = ", ".join(str(root.folder) for root in roots)
    name = roots[0].folder.resolve().name if bench.viewing and len(roots) == 1 else ""
    return reply(request, "admin/home.html", {"studies": studies, **home_data(bench)}, below=below, folder_name=name)


def _for_adjudicator(request: Request, name: str) -> Response:
    """Where to decide; runs and results, which name systems, are not for this role."""
    studies = [
        {
            "name": one.name,
            "title": one.title,
            "page": "adjudication" if one.method.startswith("pairs") else "disagreements",
        }
        for one in workbench(request).service.studies()
    ]
    if wants_json(request):
        return json_reply({"studies": studies})
    return page(request, "admin/welcome.html", first=False, studies=studies, name=name)
