"""Clips on their way into a study: copied and made playable in the background, while the page tells how it goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeAlias

from rushes.core.errors import RushesError
from rushes.core.machine.progress import Progress

if TYPE_CHECKING:
    from rushes.study.material.import_state import ImportState
    from rushes.study.service import StudyService

Work: TypeAlias = Callable[[Progress], int]
"""Reads the clips, says how far it is, returns how many pairs it added."""

log = logging.getLogger("rushes.web")


class Imports:
    """Imports one after the other; how each goes is kept with the studies, where every process reads it."""

    def __init__(self, studies: StudyService | None) -> None:
        self._studies = studies
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="import")
        self._jobs: dict[str, Future[None]] = {}

    def start(self, study: str, work: Work) -> None:
        """Begin in the background."""
        assert self._studies is not None
        self._studies.note_import(study, "running", _RUNNING.format(0))
        self._jobs[study] = self._pool.submit(copy_context().run, _import, self._studies, study, work)

    def wait(self, study: str, *, timeout_s: float) -> None:
        """Block until the import that this process does has ended."""
        if job := self._jobs.get(study):
            job.result(timeout=timeout_s)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


_RUNNING = "Clips are being read and made playable; {} so far."
_NOTE_EVERY_S = 1.0


def _import(studies: StudyService, study: str, work: Work) -> None:
    last = time.monotonic()

    def progress(done: int, total: int, step: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _NOTE_EVERY_S:
            last = time.monotonic()
            studies.note_import(study, "running", _RUNNING.format(done))

    studies.note_import(study, *_outcome(study, work, progress))


def _outcome(study: str, work: Work, progress: Progress) -> tuple[ImportState, str]:
    try:
        added = work(progress)
    except RushesError as error:
        return "failed", str(error)
    except Exception:
        log.exception("import into %s failed", study)
        return "failed", "Something went wrong; the server's log says what."
    return "done", f"{added} pairs were added."
