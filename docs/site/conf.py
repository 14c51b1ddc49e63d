"""Sphinx settings of the site; `make site` puts them beside the pages. Nothing here asks the network for anything."""

from functools import cache, partial
from pathlib import Path
from posixpath import dirname
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

project = "Rushes"
author = "The Rushes authors"
copyright = "The Rushes authors, Apache-2.0"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4  # links such as compare.md#verdicts
myst_enable_extensions = ["attrs_inline", "deflist"]
myst_fence_as_directive = ["toctree"]
highlight_language = "none"  # a block says what it is, or is plain text
nitpicky = True

html_theme = "furo"
html_title = "Rushes"
html_static_path = ["static"]
html_extra_path = ["extra"]  # the sources that pages of metrics lead to
html_css_files = ["rushes.css"]
html_js_files = [("rushes.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_favicon = "static/icon.svg"
smartquotes = False  # --audio is an option, not a dash
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None  # the same pages give the same bytes
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d4ed8", "color-brand-content": "#1d4ed8"},
    "dark_css_variables": {"color-brand-primary": "#93b4ff", "color-brand-content": "#93b4ff"},
    "top_of_page_buttons": [],
    "footer_icons": [],
}

_sidebars: dict[str, str] = {}
"""What the sidebar lists for pages outside the navigation, by folder."""


def sidebar_once(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """The pages of metrics are in no table of contents, so that their sidebar is the same: made once, not 380 times."""
    if tree is not None and "orphan" in app.env.metadata[page] and "toctree" in context:
        context["toctree"] = partial(_sidebar, dirname(page), context["toctree"])


def _sidebar(folder: str, make: Any, **options: Any) -> str:
    key = f"{folder} {sorted(options.items())}"
    if key not in _sidebars:
        _sidebars[key] = make(**options)
    return _sidebars[key]


class OnceStemmed(SearchEnglish):
    """Sphinx's English search, which reduces each of the site's words once, not wherever it stands."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = cache(self.stem)  # type: ignore[method-assign]


def setup(app: Sphinx) -> None:
    """Before the theme's own handlers, which have the order 500."""
    app.connect("html-page-context", sidebar_once, priority=400)
    app.add_search_language(OnceStemmed)
