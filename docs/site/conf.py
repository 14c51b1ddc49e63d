"""Sphinx settings of the site; `make site` puts them beside the pages. Nothing here asks the network for anything."""

from pathlib import Path

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
