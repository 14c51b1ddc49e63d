"""How long a task may take and how much memory its worker may hold; the same on every engine, in the same words."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from rushes.errors import InputError
from rushes.workers.worker import Crash, resident_mb

ATTEMPTS = 2
"""A worker can die for reasons that are not the task's; a task that kills two is at fault."""
_LOOK_EVERY_S = 0.05
"""How often memory is looked at when it is limited: a runaway task gets some tens of MB past the limit, not more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of a task, megabytes (MiB, resident) of its worker; None: no limit."""

    timeout: float | None
    memory_mb: int | None

    def require_possible(self) -> None:
        """`InputError` where this system cannot tell what a process holds."""
        if self.memory_mb is not None and resident_mb(os.getpid()) is None:
            raise InputError("a memory limit needs /proc, as Linux has it; leave --memory out on this system")

    def excess(self, pid: int | None, *, started: float, served: int) -> Crash | None:
        """The limit that a worker's task has passed, if any; `served` counts the worker's tasks, this one included."""
        if self.timeout is not None and time.monotonic() - started >= self.timeout:
            return Crash(f"took longer than {self.timeout:g} s", may_retry=False)
        if self.memory_mb is not None and (resident_mb(pid) or 0) > self.memory_mb:
            # What earlier tasks left behind is not this one's: a worker of its own decides.
            return Crash(f"used more than {self.memory_mb} MB of memory", may_retry=served > 1)
        return None

    def patience(self, started: float) -> float | None:
        """Seconds to wait for news of a task before the limits are looked at again; None: until there is some."""
        late = None if self.timeout is None else max(0.0, started + self.timeout - time.monotonic())
        look = None if self.memory_mb is None else _LOOK_EVERY_S
        return min((wait for wait in (late, look) if wait is not None), default=None)
