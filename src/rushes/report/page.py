"""Sections into one HTML file that needs nothing else: no request, no script but its own, no clock.

The page says so itself: its Content-Security-Policy names the digests of its one style sheet and its one script, and
allows pictures from inside the file only.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rushes import __version__
from rushes.core import Definition
from rushes.core.table import Cell
from rushes.core.text import moved_by
from rushes.errors import MissingDependency
from rushes.report.figure import Figure
from rushes.report.section import Section, range_and_direction, unit_text
from rushes.report.verdict import EMPTY, Finding, Verdict, joined

if TYPE_CHECKING:
    from jinja2 import Environment

SHARED = ("verdict.html",)
"""Templates that other packages' pages include."""
_SCRIPTS = ("timeline.js", "numbers.js", "report.js")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_WIDTH = re.compile(r'<svg[^>]*\swidth="([\d.]+)"')
_HALF_PAGE = 620
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)


def render_page(
    sections: Sequence[Section], *, title: str, lead: str = "", verdict: Verdict | None = None, made_by: str = ""
) -> str:
    """The whole page. `verdict` opens it, made from what the sections found where none is given; `lead` is a sentence
    above it, `made_by` the command that made the page."""
    style, script = page_style(), joined_modules(_SCRIPTS)
    html = (
        page_environment()
        .get_template("page.html")
        .render(
            title=title,
            lead=lead,
            verdict=verdict or opening(sections),
            made_by=made_by,
            sections=sections,
            policy=content_policy(style, script),
            style=style,
            script=script,
            version=__version__,
        )
    )
    # A file name from a run can hold half a surrogate pair, which no file can.
    return html.encode("utf-8", "replace").decode()


def page_style() -> str:
    """The style sheet of a report, and of pages that look like one."""
    return asset("report.css") + asset("verdict.css")


def opening(sections: Sequence[Section]) -> Verdict:
    """What the sections found, in one strip: the clips to look at first, then a short sentence of every other one.

    What people said comes before what was measured.
    """
    judged = [section.verdict for section in sections if section.verdict is not None]
    others = sorted((s for s in sections if s.verdict is None), key=lambda section: not section.people)
    findings = [Finding(title=s.title, text=s.summary, link=f"#{s.anchor}") for s in others]
    if not judged:
        return Verdict(headline=findings[0].text, findings=tuple(findings[1:])) if findings else EMPTY
    return replace(joined(judged), findings=tuple(findings))


def verdict_html(verdict: Verdict) -> str:
    """The strip as HTML that is safe to put into any page with `verdict.css`."""
    return page_environment().get_template("verdict.html").render(verdict=verdict)


def content_policy(style: str, script: str, *, media: str = "") -> str:
    """What the page may load: its own style and script, by digest, pictures inside the file, and `media` sources."""
    videos = f"media-src {media}; " if media else ""
    return (
        f"default-src 'none'; img-src data:; {videos}style-src '{_source(style)}'; script-src '{_source(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str, package: str = "rushes.report") -> str:
    """The text of a file in a package's `assets/`."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def joined_modules(names: Sequence[str], package: str = "rushes.report") -> str:
    """ES modules as one: a page opened from disk cannot import files, so their imports of each other are dropped.

    Imports and exports stand at the start of a line, one a line, and the modules come in the order they need.
    """
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", asset(name, package))) for name in names)


def figure_uri(figure: Figure) -> str:
    """A chart as a picture: whatever text a chart holds, a picture runs no script."""
    return _svg_uri(figure.svg)


def narrow_uri(figure: Figure) -> str:
    """The chart for a phone."""
    return _svg_uri(figure.narrow or figure.svg)


def _svg_uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8", "replace")).decode()


def is_wide(figure: Figure) -> bool:
    """Whether a chart needs the page's whole width to be read."""
    width = _WIDTH.search(figure.svg)
    return width is not None and float(width[1]) > _HALF_PAGE


def is_number(cell: Cell) -> bool:
    """Whether a cell stands at the right: a measurement, or a count among words.

    >>> is_number(Cell("1,200")), is_number(Cell("-0.5")), is_number(Cell("p06")), is_number(Cell("980 to 1020"))
    (True, True, False, False)
    """
    return cell.measurement is not None or cell.text.lstrip("-−+").replace(",", "").replace(".", "", 1).isdigit()


def definition_groups(definitions: Sequence[Definition]) -> list[tuple[Definition, list[str]]]:
    """Definitions that say the same under several settings, once, with all their signatures."""
    groups: dict[tuple[str, str, str], tuple[Definition, list[str]]] = {}
    for definition in definitions:
        key = (definition.name, definition.formula, definition.summary)
        groups.setdefault(key, (definition, []))[1].append(definition.signature)
    return list(groups.values())


def _source(text: str) -> str:
    """A text's digest as a policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def page_environment(package: str = "rushes.report") -> Environment:
    """Templates of a package's `assets/`; what they print is escaped."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingDependency("reports need jinja2; run: pip install 'rushes[report]'") from None
    environment = Environment(
        loader=FunctionLoader(lambda name: asset(name, package if name not in SHARED else "rushes.report")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure_uri": figure_uri,
        "narrow_uri": narrow_uri,
        "is_number": is_number,
        "is_wide": is_wide,
        "definition_groups": definition_groups,
        "unit": unit_text,
        "moved_by": moved_by,
        "range_and_direction": range_and_direction,
        "thousands": lambda count: f"{count:,}",
    }
    return environment
