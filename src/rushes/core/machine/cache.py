"""The folder for what can be fetched or made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where model files are kept: `RUSHES_CACHE`, or `rushes` in the user's cache folder."""
    named = os.environ.get("RUSHES_CACHE")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushes"
