"""A folder that is not there: what lies nearby under a similar name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path


def near(path: Path) -> str:
    """What to add to "there is none": folders with a name like this one; "" where nothing is near."""
    parent = path.parent
    while not parent.is_dir() and parent != parent.parent:
        path, parent = parent, parent.parent
    try:
        names = sorted(entry.name for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return ""
    close = get_close_matches(path.name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(str(parent / name) for name in close)}?" if close else ""
