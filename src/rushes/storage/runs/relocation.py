"""Where the clips of a run lie now, whatever moved since."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path


def candidates(path: str | Path, *, beside: Path) -> tuple[Path, ...]:
    """Where a clip of a run may lie now, the likeliest place first; `beside` is the run directory.

    Relative paths were relative to where the run was made. A run that moved together with its clips, or is looked at
    from another folder, is found as well: its own folder and those above it are tried, nearest first.
    """
    return tuple(dict.fromkeys(folder / path for folder in _folders(beside, os.getcwd())))


@lru_cache(maxsize=64)
def _folders(beside: Path, here: str) -> tuple[Path, ...]:
    """The folders to try, for a run looked at from `here`: a board asks for each of its clips."""
    return (Path(), beside, beside.parent, *beside.resolve().parents)


def relocate(path: str | Path, *, beside: Path) -> Path | None:
    """The first of `candidates` that is a file; None when the clip is gone."""
    for place in candidates(path, beside=beside):
        try:
            if place.is_file():
                return place
        except (OSError, ValueError):
            continue  # a name this system cannot have
    return None
