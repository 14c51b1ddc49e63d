"""Clips on their way into a study: copied and made playable in the background, while the page tells how it goes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeAlias

from rushes.core.errors import RushesError
from rushes.core.machine.progress import Progress

Work: TypeAlias = Callable[[Progress], int]
"""Reads the clips, says how far it is, returns how many pairs it added."""

log = logging.getLogger("rushes.web")


class Imports:
    """At most one import per study at a time; the last one's outcome is kept until the next."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="import")
        self._jobs: dict[str, Future[str]] = {}
        self._clips: dict[str, int] = {}
        self._lock = threading.Lock()

    def start(self, study: str, work: Work) -> None:
        """Begin in the background."""

        def progress(done: int, total: int, step: str) -> None:
            self._clips[study] = done

        with self._lock:
            self._clips[study] = 0
            self._jobs[study] = self._pool.submit(copy_context().run, _outcome, study, work, progress)

    def state(self, study: str) -> dict[str, str]:
        """`{"state": "none" | "running" | "done" | "failed", "text": …}`."""
        with self._lock:
            job, clips = self._jobs.get(study), self._clips.get(study, 0)
        if job is None:
            return {"state": "none", "text": ""}
        if not job.done():
            return {"state": "running", "text": f"Clips are being read and made playable; {clips} so far."}
        state, _, text = job.result().partition(" ")
        return {"state": state, "text": text}

    def wait(self, study: str, *, timeout_s: float) -> None:
        """Block until the study's import has ended."""
        with self._lock:
            job = self._jobs.get(study)
        if job is not None:
            job.result(timeout=timeout_s)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _outcome(study: str, work: Work, progress: Progress) -> str:
    try:
        added = work(progress)
    except RushesError as error:
        return f"failed {error}"
    except Exception:
        log.exception("import into %s failed", study)
        return "failed Something went wrong; the server's log says what."
    return f"done {added} pairs were added."
