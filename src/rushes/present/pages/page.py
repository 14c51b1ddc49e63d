"""Sections into one HTML file that needs nothing else: no request, no script but its own, no clock.

The page says so itself: its Content-Security-Policy names the digests of its one style sheet and its one script, and
allows pictures from inside the file only.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from rushes import __version__
from rushes.core import Definition
from rushes.core.registry import optional_package
from rushes.core.table import Cell
from rushes.core.words.definition_text import moved_by
from rushes.core.words.html_table import Look, html
from rushes.present.charts.figure import Figure
from rushes.present.pages.section import Section, range_and_direction, unit_text
from rushes.present.verdict.verdict import EMPTY, Finding, Verdict, joined

if TYPE_CHECKING:
    from jinja2 import Environment


_HOME = "rushes.present.pages"
SHARED = ("verdict.html", "brand.html")
"""Templates that other packages' pages include."""
_SCRIPTS = ("timeline.js", "numbers.js", "report.js")
_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_WIDTH = re.compile(r'<svg[^>]*\swidth="([\d.]+)"')
_HALF_PAGE = 620
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)

_RIGHT = ' class="value"'
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def render_page(
    sections: Sequence[Section], *, title: str, lead: str = "", verdict: Verdict | None = None, made_by: str = ""
) -> str:
    """The whole page. `verdict` opens it, made from what the sections found where none is given; `lead` is a sentence
    above it, `made_by` the command that made the page."""
    style, script = page_style(), joined_modules(_SCRIPTS)
    page = (
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
    return page.encode("utf-8", "replace").decode()


def brand() -> str:
    """The mark and the name in a page's header, as HTML."""
    return asset("brand.html").strip()


def page_style() -> str:
    """The style sheet of a report, and of pages that look like one."""
    return asset("frame.css") + asset("report.css") + asset("verdict.css")


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


def asset(name: str, package: str = _HOME) -> str:
    """The text of a file in a package's `assets/`."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def joined_modules(names: Sequence[str], package: str = _HOME) -> str:
    """ES modules as one: a page opened from disk cannot import files, so their imports of each other are dropped.

    Imports and exports stand at the start of a line, one a line, and the modules come in the order they need.
    """
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", asset(name, package))) for name in names)


def svg_uri(svg: str) -> str:
    """A chart as a picture: whatever text a chart holds, a picture runs no script."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8", "replace")).decode()


def is_wide(figure: Figure) -> bool:
    """Whether a chart needs the page's whole width to be read."""
    width = _WIDTH.search(figure.svg)
    return width is not None and float(width[1]) > _HALF_PAGE


def value_html(cell: Cell) -> str:
    """A cell's text; of a number, a button that says the whole of it and copies its signature."""
    m = cell.measurement
    if m is None:
        return escape(cell.text)
    about = f"{cell.exact} {unit_text(m.definition)}, {range_and_direction(m.definition)}"
    words = f"{about}{f'; {m.note}' if m.note else ''}. Click to copy its signature: {cell.signature}"
    data = f'data-copy="{escape(cell.signature)}" data-value="{escape(cell.exact)}"'
    return f'<button type="button" class="num" {data} title="{escape(words)}">{escape(cell.text)}</button>'


_LOOK = Look(table=' class="grid"', right=_RIGHT, number=lambda cell: (_RIGHT, value_html(cell)), fold=True)


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
def page_environment(package: str = _HOME) -> Environment:
    """Templates of a package's `assets/`; what they print is escaped."""
    jinja2 = optional_package("jinja2", "reports need jinja2", extra="report")
    from markupsafe import Markup

    environment: Environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: asset(name, _HOME if name in SHARED else package)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "figure_uri": lambda figure: svg_uri(figure.svg),
        "narrow_uri": lambda figure: svg_uri(figure.narrow or figure.svg),
        "table": lambda table: Markup(html(table, _LOOK)),  # every text in it is escaped  # nosec B704
        "value": lambda cell: Markup(value_html(cell)),  # the same  # nosec B704
        "is_wide": is_wide,
        "definition_groups": definition_groups,
        "unit": unit_text,
        "moved_by": moved_by,
        "range_and_direction": range_and_direction,
        "thousands": lambda count: f"{count:,}",
    }
    return environment


def embedded_json(data: object) -> str:
    """Compact JSON for a script element: whatever the text, it can neither end the element nor open a comment.

    >>> embedded_json({"name": "</script><b>"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # JSON from elsewhere can carry half a surrogate pair, which no file can hold.
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode()
