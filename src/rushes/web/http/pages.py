"""Pages: the templates, and the reply that is HTML for people and JSON for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.meta import find_referenced_templates
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rushes.core.canonical import canonical_json
from rushes.core.table import Table
from rushes.core.words.html_table import Look, hover, html
from rushes.core.words.number_text import with_minus
from rushes.web.home.discovery import run_title
from rushes.web.study.languages import Strings, asked_language, strings

_RIGHT = ' class="num"'
_LOOK = Look(
    table=' class="numbers"',
    right=_RIGHT,
    number=lambda cell: (_RIGHT + hover(cell), escape(with_minus(cell.text))),
    text=lambda text: escape(with_minus(text)),
    fold=True,
)


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
    templates.filters["breaks"] = breaks
    templates.filters["minus"] = with_minus
    templates.filters["table"] = lambda table: Markup(html(without_empty(table), _LOOK))  # every text is escaped  # nosec B704
    return templates


def compile_template(name: str) -> None:
    """Make a page's template, and those that it stands on, ready: the first page of its kind need not wait for that."""
    templates, names, done = _templates(), [name], set[str]()
    while names:
        wanted = names.pop()
        if wanted not in done:
            done.add(wanted)
            templates.get_template(wanted)
            source, *_ = PackageLoader("rushes.web").get_source(templates, wanted)
            names += [other for other in find_referenced_templates(templates.parse(source)) if other]


def breaks(text: str) -> Markup:
    """A name that may go on in the next line after "_", "/" and "-", and only there.

    >>> str(breaks("longest_freeze_ms")), str(breaks("<b>"))
    ('longest_<wbr>freeze_<wbr>ms', '&lt;b&gt;')
    """
    return Markup(re.sub("([_/-])", r"\1<wbr>", escape(text)))  # escaped just now  # nosec B704


def without_empty(table: Table) -> Table:
    """The table without columns in which no row has anything."""
    filled = [any(row[n].text or row[n].measurement for row in table.rows) for n in range(len(table.columns))]
    if all(filled) or not table.rows:
        return table
    return replace(
        table,
        columns=tuple(column for column, kept in zip(table.columns, filled, strict=True) if kept),
        rows=[tuple(cell for cell, kept in zip(row, filled, strict=True) if kept) for row in table.rows],
    )


def _longest_note() -> int:
    from rushes.study.records import LONGEST_NOTE

    return LONGEST_NOTE


_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202d\u202e]")
"""What HTML cannot hold, and what turns the direction of the text behind it: a name from a file may have them."""


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A rendered page. Every template can use `csrf` (a fresh token) and `path` (the page's address)."""
    from rushes.web.http.security import csrf_token

    text = (
        _templates()
        .get_template(template)
        .render(csrf=csrf_token(request), path=request.url.path, status=status, **_plain(request, template, context))
    )
    # A folder's name may have bytes that are no UTF-8: a page shows it with a mark in their place.
    return HTMLResponse(_UNSEEN.sub("\ufffd", text).encode(errors="replace"), status_code=status)


def _plain(request: Request, template: str, context: dict[str, Any]) -> dict[str, Any]:
    from rushes.web.workbench import workbench

    bench = workbench(request)
    # `viewing`: this is `rushes view`, without studies and accounts; `landed`: the address still has its token.
    about = {"viewing": bench.viewing, "landed": getattr(request.state, "landed", False)}
    # Whether whoever is signed in may open an address (`access.admin`): a page links to nothing that would be refused.
    about["opens"] = getattr(request.state, "opens", lambda path: True)
    return {"notice": "", "problem": "", "t": _words(request, template), "switch": False, **about, **context}


def _words(request: Request, template: str) -> Strings:
    """A rater's page before a study is known speaks as the browser asks; owners' pages speak English."""
    asked = request.headers.get("accept-language", "") if template.startswith("rater/") else ""
    return strings(asked_language(asked))


def reply(
    request: Request, template: str, data: Mapping[str, object], *, status: int = 200, **context: Any
) -> Response:
    """`data` as JSON for a program, or through the template (with `context` beside it) for a person."""
    from rushes.web.http.errors import wants_json

    if wants_json(request):
        return json_reply(data, status=status)
    return page(request, template, status=status, **data, **context)


def json_reply(data: object, *, status: int = 200) -> Response:
    return Response(canonical_json(data), status_code=status, media_type="application/json")


def see(address: str) -> RedirectResponse:
    """Go and look there (303): after a form was taken, so that a reload sends nothing twice."""
    return RedirectResponse(address, status_code=303)


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
