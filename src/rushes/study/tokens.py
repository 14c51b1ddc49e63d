"""Secrets for links, cookies and media: made here, shown once, stored as hashes. And the clock they expire by."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Milliseconds since 1970."""


STEP_MS = 60_000
"""A system clock this far ahead was put right, or the machine slept: the steady clock follows."""


class SteadyClock:
    """Time of day that never goes back: the system's clock when the program began, moved on by the time since.

    Setting the system's clock back changes nothing until the next start; setting it forward is followed.
    """

    def __init__(self, wall: Clock, ticks: Clock) -> None:
        self._wall, self._ticks = wall, ticks
        self._anchor = wall() - ticks()

    def __call__(self) -> int:
        now, wall = self._anchor + self._ticks(), self._wall()
        if wall - now > STEP_MS:
            self._anchor += wall - now
            return wall
        return now


system_clock = SteadyClock(lambda: time.time_ns() // 1_000_000, lambda: time.monotonic_ns() // 1_000_000)
"""The clock of a service: milliseconds since 1970, whatever is done to the system's clock meanwhile."""


def new_token() -> str:
    """192 random bits, safe in a URL."""
    return secrets.token_urlsafe(24)


def token_hash(token: str) -> str:
    """What is stored of a secret. It has 192 bits of its own, so a plain digest cannot be turned back."""
    return hashlib.sha256(token.encode()).hexdigest()
