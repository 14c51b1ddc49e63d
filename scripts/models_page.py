"""Write the table of docs/models.md from the catalogue: `python scripts/models_page.py docs/models.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from rushes.vision.models.catalogue import GROUPS, Group

BEGIN, END = "<!-- groups: made by scripts/models_page.py -->", "<!-- end of groups -->"


def section(group: Group) -> str:
    """One group: what it is, what it unlocks, and its pins."""
    lines = [f"### {group.name}", "", f"{group.summary[0].upper()}{group.summary[1:]}. Licence: {group.licence}."]
    lines += [f"Unlocks: {group.unlocks}."]
    lines += [f"Named in: {group.named_in}."] if group.named_in else []
    lines += ["", "| file in the cache | MB | sha256 | taken from |", "|---|---|---|---|"]
    for file in group.files:
        sources = "; or ".join(
            f"`{source.archive.requirement}`, `{source.archive.file}` ({source.archive.sha256}): `{source.inside}`"
            for source in file.sources
        )
        was = f", converted; the package's own file is {file.source_sha256}" if file.convert != "copy" else ""
        lines.append(f"| `{file.name}` | {file.size / 1e6:.2f} | {file.sha256} | {sources}{was} |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its generated part made anew."""
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    return before + BEGIN + "\n\n" + "\n\n".join(map(section, GROUPS.values())) + "\n\n" + END + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
