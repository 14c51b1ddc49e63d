"""How long a task may take, how much memory its worker may hold, and how it ends otherwise; the same on every engine.

Memory is limited by watching what a worker holds resident (`resident_mb`), not by `RLIMIT_AS` or `RLIMIT_DATA`:
LiteRT and torch reserve gigabytes of addresses that they never touch, so a limit on addresses refuses honest work, and
a refused allocation ends in each library's own way (an abort, a decoder error that blames the clip). What is resident
is what the machine runs out of, and the parent knows for certain why it stopped the worker.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import InputError
from rushes.core.words.options import option

_LOOK_EVERY_S = 0.05
"""How often memory is looked at when it is limited: a runaway task gets some tens of MB past the limit, not more."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A task that gave no result, and why."""

    reason: str
    may_retry: bool = True
    at: str = ""
    """The metric of another package that was at work; "" where none was."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of a task from its beginning, megabytes (MiB, resident) of its worker; None: no limit."""

    timeout: float | None = None
    memory_mb: int | None = None
    clock: Callable[[], float] = time.monotonic

    def require_possible(self) -> None:
        """`InputError` where this system cannot tell what a process holds."""
        if self.memory_mb is not None and resident_mb(os.getpid()) is None:
            raise InputError(f"a memory limit needs Linux's /proc; leave {option('--memory')} out on this system")

    def excess(self, pid: int, *, began: float, served: int) -> Crash | None:
        """The limit that a worker's task has passed, if any; `served` counts the worker's tasks, this one included."""
        if self.timeout is not None and self.clock() - began >= self.timeout:
            return Crash(f"took longer than {self.timeout:g} s", may_retry=False)
        if self.memory_mb is not None and (resident_mb(pid) or 0) > self.memory_mb:
            # What earlier tasks left behind is not this one's: a worker of its own decides.
            return Crash(f"used more than {self.memory_mb} MB of memory", may_retry=served > 1)
        return None

    def patience(self, began: float | None) -> float | None:
        """Seconds until the limits of a task must be looked at again; None: not before there is news of it."""
        if began is None:
            return None
        late = None if self.timeout is None else max(0.0, began + self.timeout - self.clock())
        look = None if self.memory_mb is None else _LOOK_EVERY_S
        return min((wait for wait in (late, look) if wait is not None), default=None)


NO_LIMITS = Limits()


def resident_mb(pid: int) -> float | None:
    """Megabytes (MiB) a process holds in memory; None where that cannot be told, or once it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def death(exitcode: int, at: str = "") -> str:
    """How a worker ended, in words that go behind the name of `at`, the metric of another package that was at work.

    >>> death(-11), death(7), death(-11, "letterbox_ratio")
    ('the decoder crashed (SIGSEGV)', 'the worker stopped with exit code 7', 'crashed (SIGSEGV)')
    """
    if exitcode == -signal.SIGKILL:
        return "the worker was killed (SIGKILL), as the system does when memory runs out"
    if exitcode < 0:
        return f"{'' if at else 'the decoder '}crashed ({signal.Signals(-exitcode).name})"
    return f"{'' if at else 'the worker '}stopped with exit code {exitcode}"
