"""Pages: the templates, and the reply that is HTML for people and JSON at the `.json` twin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rushes.core.canonical import canonical_json
from rushes.web.discovery import run_title
from rushes.web.languages import Strings, asked_language, strings

if TYPE_CHECKING:
    from fastapi import APIRouter

View = TypeVar("View", bound=Callable[..., Any])


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("rushes.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["percent"] = percent
    templates.globals["longest_note"] = _longest_note
    templates.filters["duration"] = duration
    templates.filters["fixed"] = fixed
    templates.filters["run_title"] = run_title
    return templates


def _longest_note() -> int:
    from rushes.preference.study.records import LONGEST_NOTE

    return LONGEST_NOTE


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A rendered page. Every template can use `csrf` (a fresh token) and `path` (the page's address)."""
    from rushes.web.security import csrf_token

    text = (
        _templates()
        .get_template(template)
        .render(csrf=csrf_token(request), path=request.url.path, status=status, **_plain(request, template, context))
    )
    return HTMLResponse(text, status_code=status)


def _plain(request: Request, template: str, context: dict[str, Any]) -> dict[str, Any]:
    from rushes.web.workbench import workbench

    bench = workbench(request)
    # `viewing`: this is `rushes view`, without studies and accounts; `landed`: the address still has its token.
    about = {"viewing": bench.viewing, "landed": getattr(request.state, "landed", False)}
    return {"notice": "", "problem": "", "t": _words(request, template), "switch": False, **about, **context}


def _words(request: Request, template: str) -> Strings:
    """A rater's page before a study is known speaks as the browser asks; owners' pages speak English."""
    asked = request.headers.get("accept-language", "") if template.startswith("rater/") else ""
    return strings(asked_language(asked))


def reply(
    request: Request, template: str, data: Mapping[str, object], *, status: int = 200, **context: Any
) -> Response:
    """`data` as JSON for a program, or through the template (with `context` beside it) for a person."""
    from rushes.web.errors import wants_json

    if wants_json(request):
        return json_reply(data, status=status)
    return page(request, template, status=status, **data, **context)


def json_reply(data: object, *, status: int = 200) -> Response:
    return Response(canonical_json(data), status_code=status, media_type="application/json")


def see(address: str) -> RedirectResponse:
    """Go and look there (303): after a form was taken, so that a reload sends nothing twice."""
    return RedirectResponse(address, status_code=303)


def with_twin(router: APIRouter, path: str) -> Callable[[View], View]:
    """Register a GET view at `path` and at `path.json`."""

    def register(view: View) -> View:
        # The twin first: "/studies/{study}" would take "takes.json" for a study's name.
        router.get(f"{path}.json", response_model=None, name=f"{view.__name__}_json")(view)
        router.get(path, response_model=None)(view)
        return view

    return register


def percent(value: float | None, digits: int = 0) -> str:
    """
    >>> percent(0.125), percent(0.125, 1), percent(None)
    ('12 %', '12.5 %', '–')
    """
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def duration(seconds: float | None) -> str:
    """
    >>> duration(None), duration(8.4), duration(75), duration(3725)
    ('–', '8 s', '1 min 15 s', '1 h 02 min')
    """
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def fixed(value: float, digits: int = 2) -> str:
    """A number with so many decimals, and never a negative zero.

    >>> fixed(1.005), fixed(-0.001), fixed(1079.4, 0)
    ('1.00', '0.00', '1079')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"
