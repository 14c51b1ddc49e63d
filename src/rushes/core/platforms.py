"""Where Rushes runs."""

from __future__ import annotations

import sys

from rushes.errors import RushesError


def require_unix() -> None:
    """Refuse Windows in one line: run directories are locked with flock, and workers are ended by signals."""
    if sys.platform == "win32":
        raise RushesError("Rushes runs on Linux and macOS; on Windows, run it inside WSL 2 or a container")
