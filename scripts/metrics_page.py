"""`docs/metrics.md`: the index of the metrics as a page of the repository.

`python scripts/metrics_page.py FILE` writes it; a test keeps it true. The site has a page for each metric instead."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pages.groups import groups
from pages.metrics import index_head, index_table


def metrics_page() -> str:
    """The whole page as Markdown."""
    lines = [
        "# Every metric",
        "",
        "Made from the catalogue by `make docs`; do not edit. On the site each metric has a page",
    ]
    lines += ["of its own, with its formula, command, edge cases and rates (`make site`).", "", index_head(), ""]
    for group, names in groups():
        lines += [f"## {group.title}", "", f"{group.lead} Guide: [{group.guide}]({group.guide}.md).", ""]
        lines += [*index_table(names, linked=False), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(metrics_page(), encoding="utf-8")
