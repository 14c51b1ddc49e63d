"""Where Rushes runs."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from rushes.core.errors import RushesError

_PR_SET_PDEATHSIG = 1
"""prctl(2): the signal the kernel sends a process when the one that started it ends."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""mallopt(3) of glibc: free memory from which it is handed back, and the size from which memory is mapped by itself."""
_KEPT, _LARGEST = 64 << 20, 32 << 20

_own_process = False


def own_process() -> None:
    """Say that this process is a `rushes` command: what it imports and starts is ours, and nobody else's."""
    global _own_process
    _own_process = True


def is_own_process() -> bool:
    """Whether this process is a `rushes` command; False inside a script, a notebook or a test."""
    return _own_process


def require_unix() -> None:
    """Refuse Windows in one line: run directories are locked with flock, and workers are ended by signals."""
    if sys.platform == "win32":
        raise RushesError("Rushes runs on Linux and macOS; on Windows, run it inside WSL 2 or a container")


def ending_with(parent: int) -> Callable[[], None]:
    """What a process calls to be killed when its parent ends, even in the middle of a loop; only Linux has that.

    The library is loaded here, so that a child can be given this to call after the fork.
    """
    return partial(_end_with, ctypes.CDLL(None).prctl, parent) if sys.platform == "linux" else lambda: None


def _end_with(prctl: Callable[..., int], parent: int) -> None:
    prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was asked
        os._exit(1)


def keep_freed_memory() -> None:
    """Use the memory of one picture for the next one; only glibc has that.

    What it hands back, up to every array larger than 128 KB, the system clears for the next array page by page, which
    takes as long as the work on some pictures.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)


def memory_file(name: str, size: int) -> int | None:
    """So many bytes of memory that other processes may open as /proc/PID/fd/N; None on a system without such."""
    if not hasattr(os, "memfd_create"):
        return None
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor


def may_have_gpu() -> bool:
    """Whether an NVIDIA device seems to be here; found out without loading torch, which takes seconds."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()  # the second under WSL


def await_end(pid: int, seconds: float) -> None:
    """Wait until a process that is not a child of this one has ended, for so long at most; Linux."""
    with suppress(OSError):  # it has ended and is forgotten
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [], seconds)
        finally:
            os.close(descriptor)
