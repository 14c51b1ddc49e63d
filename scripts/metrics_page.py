"""`docs/metrics.md`: the catalogue as a page.

`python scripts/metrics_page.py FILE` writes it; a test keeps it true."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from rushes.core import Definition
from rushes.core.words.definition_text import direction_text, moved_by, range_text
from rushes.instruments.catalogue import catalog

_HEAD = """# Every metric

Made from the catalogue by `make docs`; do not edit. `rushes metrics NAME` shows the same on the terminal.
A parameter shown as `<…>` is settled by each run (a model's digest, a number of samples).
*Depends on* names facts of the medium: where they differ, two values do not compare. *Raised by* and *lowered by* say
what else moves a value though nothing got better or worse: see [two runs](compare.md).
"""


def metrics_page() -> str:
    """The whole page as Markdown."""
    sections = [_HEAD]
    for name, readings in groupby(catalog().values(), key=lambda definition: definition.name):
        sections.append(f"## {name}\n")
        sections += [_reading(definition) for definition in readings]
    return "\n".join(sections)


def _reading(definition: Definition) -> str:
    facts = [
        ("Formula", definition.formula),
        ("Unit", definition.unit),
        ("Range", range_text(definition)),
        ("Direction", direction_text(definition)),
        *moved_by(definition),
        ("Edge cases", definition.edge_cases),
        ("Reference", definition.reference),
    ]
    lines = [f"`{definition.signature}`", "", definition.summary, ""]
    lines += [f"- **{name}**: {text}" for name, text in facts if text]
    lines += [f"- **v{version}**: {why}" for version, why in enumerate(definition.history, 1)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(metrics_page(), encoding="utf-8")
