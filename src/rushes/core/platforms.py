"""Where Rushes runs."""

from __future__ import annotations

import os
import sys

from rushes.errors import RushesError


def require_unix() -> None:
    """Refuse Windows in one line: run directories are locked with flock, and workers are ended by signals."""
    if sys.platform == "win32":
        raise RushesError("Rushes runs on Linux and macOS; on Windows, run it inside WSL 2 or a container")


def memory_file(name: str, size: int) -> int | None:
    """So many bytes of memory that other processes may open as /proc/PID/fd/N; None on a system without such."""
    if not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor
