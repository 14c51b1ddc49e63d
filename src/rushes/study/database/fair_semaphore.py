"""First come, first served: a gate that lets a number of threads in at once, in the order they came.

A lock or a connection pool wakes a waiting thread and lets another that is just passing take its place; under two
hundred raters the unlucky ones then wait for seconds while the average looks fine.
"""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType


class FairSemaphore:
    """A context manager that at most `places` threads are inside of; those who wait enter in order.

    >>> gate = FairSemaphore(1)
    >>> with gate:
    ...     gate.free
    0
    >>> gate.free
    1
    """

    def __init__(self, places: int) -> None:
        self.free = places
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if self.free and not self._waiting:
                self.free -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()  # released by whoever leaves, who hands the place over

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self.free += 1
