"""Requests and their durations in Prometheus' text format: of one process, or of all processes of a server together."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from rushes.core.machine.files import replacing

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the durations that are counted: Prometheus' own defaults."""
_SECONDS = "rushes_request_seconds"
_KEEP_EVERY_S = 0.5


class RequestCounts:
    """Requests by method, route and status, and how long they took, since the process began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = Counts()

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        known = method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS") else "other"
        with self._lock:
            self._counts.add(known, route, status, seconds)

    def text(self) -> str:
        """Prometheus' text format, sorted, so that two scrapes without a request between them are equal."""
        with self._lock:
            return self._counts.text()


class SharedCounts(RequestCounts):
    """The same for all processes that keep theirs in one folder: whichever is asked answers for all.

    What the others counted in the last half second may be missing. The file of a process that has ended stays: its
    requests were answered.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._file = folder, folder / f"{os.getpid()}.json"
        self._waiting = False

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        super().add(method, route, status, seconds)
        if not self._waiting:
            self._waiting = True
            asyncio.get_running_loop().call_later(_KEEP_EVERY_S, self.keep)

    def keep(self) -> None:
        """Write this process's counts where the others read them."""
        self._waiting = False
        with self._lock:
            text = json.dumps(self._counts.as_lists())
        with suppress(OSError), replacing(self._file) as out:  # a full disk stops no request
            out.write(text)

    def text(self) -> str:
        with self._lock:
            whole = Counts.from_lists(self._counts.as_lists())
        for data in self._others():
            whole.join(Counts.from_lists(data))
        return whole.text()

    def _others(self) -> Iterator[Any]:
        for file in sorted(self._folder.glob("*.json")):
            if file != self._file:
                with suppress(OSError, ValueError):
                    yield json.loads(file.read_bytes())


class Counts:
    """Numbers that add up."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.buckets: Counter[tuple[str, float]] = Counter()
        self.seconds: dict[str, float] = {}
        self.begun = time.time()

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        self.seconds[route] = self.seconds.get(route, 0.0) + seconds
        for end in BUCKETS_S:
            if seconds <= end:
                self.buckets[route, end] += 1

    def join(self, other: Counts) -> None:
        """Add another process's."""
        self.requests += other.requests
        self.buckets += other.buckets
        self.seconds = {
            route: self.seconds.get(route, 0.0) + other.seconds.get(route, 0.0)
            for route in {*self.seconds, *other.seconds}
        }
        self.begun = min(self.begun, other.begun)

    def as_lists(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "requests": [[*key, count] for key, count in self.requests.items()],
            "buckets": [[*key, count] for key, count in self.buckets.items()],
            "seconds": dict(self.seconds),
            "begun": self.begun,
        }

    @classmethod
    def from_lists(cls, data: dict[str, Any]) -> Counts:
        made = cls()
        made.requests = Counter({(method, route, status): count for method, route, status, count in data["requests"]})
        made.buckets = Counter({(route, end): count for route, end, count in data["buckets"]})
        made.seconds, made.begun = dict(data["seconds"]), data["begun"]
        return made

    def text(self) -> str:
        """Prometheus' text format."""
        lines = ["# HELP rushes_requests_total Requests answered.", "# TYPE rushes_requests_total counter"]
        for (method, route, status), count in sorted(self.requests.items()):
            lines.append(f'rushes_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}')
        lines += [
            f"# HELP {_SECONDS} Seconds from the request's head to the end of its answer.",
            f"# TYPE {_SECONDS} histogram",
        ]
        for route in sorted(self.seconds):
            lines += self._histogram(route)
        lines += ["# HELP process_start_time_seconds Start of the process.", "# TYPE process_start_time_seconds gauge"]
        return "\n".join([*lines, f"process_start_time_seconds {self.begun:.3f}"]) + "\n"

    def _histogram(self, route: str) -> list[str]:
        total = sum(count for (_, where, _), count in self.requests.items() if where == route)
        ends = [(f"{end:g}", self.buckets.get((route, end), 0)) for end in BUCKETS_S]
        return [
            *(f'{_SECONDS}_bucket{{route="{route}",le="{end}"}} {count}' for end, count in [*ends, ("+Inf", total)]),
            f'{_SECONDS}_sum{{route="{route}"}} {self.seconds[route]:.6f}',
            f'{_SECONDS}_count{{route="{route}"}} {total}',
        ]
