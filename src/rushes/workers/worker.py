"""A worker process's side of the pool: serve tasks, end with the parent, be the first to go when memory runs out.

Memory is limited by watching what a worker holds resident (`resident_mb`), not by `RLIMIT_AS` or `RLIMIT_DATA`: numba,
LiteRT and torch reserve gigabytes of addresses that they never touch, so a limit on addresses refuses honest work, and
a refused allocation ends in each library's own way (an abort, a decoder error that blames the clip). What is resident
is what the machine runs out of, and the parent knows for certain why it stopped the worker.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
"""prctl(2): the signal the kernel sends this process when its parent ends."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A task that gave no result, and why."""

    reason: str
    may_retry: bool = True


def serve(pipe: Connection, work: Callable[[Any], Any], parent: int) -> None:
    """A worker's life: take a task, send (None, result) or (error, None), until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _end_with(parent)
    _go_first_when_memory_runs_out()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(_answer(work, task))
        except (BrokenPipeError, ConnectionResetError):
            return


def _answer(work: Callable[[Any], Any], task: object) -> tuple[Exception | None, object]:
    try:
        return None, work(task)
    except MemoryError:
        return None, Crash("ran out of memory", may_retry=False)
    except Exception as error:  # carried to the parent, which raises it
        return error, None


def _end_with(parent: int) -> None:
    """Die when the parent does, even in the middle of a decoder's loop; without Linux, after the current task."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # it died before the kernel was asked
            os._exit(1)


def _go_first_when_memory_runs_out() -> None:
    """Ask the kernel to stop this worker, which can be replaced, before the parent, which holds the run together."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        return  # no Linux, or not allowed: the kernel chooses as it does


def resident_mb(pid: int | None) -> float | None:
    """Megabytes (MiB) a process holds in memory; None where that cannot be told, or once it is gone.

    >>> resident_mb(None) is None
    True
    """
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def death(process: BaseProcess) -> str:
    """How a worker ended, in words."""
    process.join()
    code = process.exitcode or 0
    if code == -signal.SIGKILL:
        return "the worker was killed (SIGKILL), as the system does when memory runs out"
    if code < 0:
        return f"the decoder crashed ({signal.Signals(-code).name})"
    return f"the worker stopped with exit code {code}"
