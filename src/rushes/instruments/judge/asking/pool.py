"""Many requests at once: so many threads, each taking the next request as soon as its last one is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Thread

from rushes.core.errors import InputError, MediaError, RushesError
from rushes.core.machine.progress import Progress, no_progress
from rushes.instruments.judge.asking.answer_log import AnswerLog
from rushes.instruments.judge.asking.answerers import Answerer
from rushes.instruments.judge.asking.frames import FrameStore
from rushes.instruments.judge.asking.requests import Ask, Method, Replies, Reply, View
from rushes.vision.judges.transport import disconnect

_AHEAD = 4
"""Requests for each thread whose frames are made ahead: a thread that waits for frames keeps no request in flight."""
_MAKERS = 2
_GIVE_UP = 8
"""Failures in a row, before any answer, after which the rest is not asked: the judge is not there."""


def ask_all(
    asks: Sequence[Ask],
    answerer: Answerer,
    log: AnswerLog,
    *,
    method: Method,
    parallel: int = 8,
    progress: Progress = no_progress,
) -> Replies:
    """Every request with its reply, in the given order; what the log has is not asked again.

    Raises `InputError` where the first requests all fail: the reason of the last says why.
    """
    judge = answerer.describe()
    digests = [ask.digest(judge, method) for ask in asks]
    wanted = dict(zip(digests, asks, strict=True))  # equal requests are one
    todo = [(digest, ask) for digest, ask in wanted.items() if log.get(digest) is None]
    with TemporaryDirectory(prefix="rushes-judge-") as folder:
        _Crew(todo, answerer, log, FrameStore(method, Path(folder)), method, progress).work(parallel)
    return Replies({ask.key: log.last(digest) for ask, digest in zip(asks, digests, strict=True)})


class _Crew:
    """Threads that share one list of requests."""

    def __init__(
        self,
        todo: Sequence[tuple[str, Ask]],
        answerer: Answerer,
        log: AnswerLog,
        frames: FrameStore,
        method: Method,
        progress: Progress,
    ) -> None:
        self._todo, self._next = todo, iter(todo)
        self._answerer, self._log, self._frames, self._method = answerer, log, frames, method
        self._lock = Condition()
        self._progress = progress
        self._taken = 0
        self._is_over = False
        self._done = self._answered = self._failed = 0
        self._error: BaseException | None = None

    def work(self, parallel: int) -> None:
        self._progress(0, len(self._todo), "answers")
        threads = [Thread(target=self._run, daemon=True) for _ in range(min(parallel, len(self._todo)))]
        views = self._views() if self._answerer.looks else iter(())
        makers = [Thread(target=self._make, args=(views, _AHEAD * parallel), daemon=True) for _ in range(_MAKERS)]
        for thread in (*makers, *threads):
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as error:  # Ctrl-C: no thread takes another request
            self._error = error
            raise
        finally:
            self._end()
            for thread in makers:
                thread.join()
        if self._error is not None:
            raise self._error

    def _end(self) -> None:
        """No frames are made for requests that nobody will take."""
        with self._lock:
            self._is_over = True
            self._lock.notify_all()

    def _views(self) -> Iterator[tuple[int, View]]:
        """What is looked at, each once, with the place of the first request that does."""
        seen: set[View] = set()
        for place, (_, ask) in enumerate(self._todo):
            for view in ask.views:
                if view not in seen:
                    seen.add(view)
                    yield place, view

    def _make(self, views: Iterator[tuple[int, View]], ahead: int) -> None:
        """Make frames before they are asked for, not too far ahead. A clip that fails here fails where it is asked."""
        while True:
            with self._lock:
                place, view = next(views, (-1, None))
                if view is None:
                    return
                self._lock.wait_for(lambda: self._is_over or place <= self._taken + ahead)  # noqa: B023
                if self._is_over:
                    return
            with suppress(Exception):
                self._frames.parts(view)

    def _run(self) -> None:
        try:
            self._answer_each()
        finally:
            disconnect()

    def _answer_each(self) -> None:
        while (task := self._take()) is not None:
            digest, ask = task
            try:
                self._finish(digest, self._reply(digest, ask))
            except BaseException as error:
                self._error = self._error or error
                return

    def _take(self) -> tuple[str, Ask] | None:
        with self._lock:
            self._taken += 1
            self._lock.notify_all()
            return None if self._error else next(self._next, None)

    def _reply(self, digest: str, ask: Ask) -> Reply:
        try:
            return self._answerer.answer(ask, digest, self._method, self._frames)
        except MediaError as error:
            return Reply(failed=f"the clip cannot be read: {error}", unreadable=True)
        except InputError:
            raise
        except RushesError as error:
            return Reply(failed=str(error))

    def _finish(self, digest: str, reply: Reply) -> None:
        self._log.add(digest, reply)
        with self._lock:
            self._done += 1
            self._answered += not reply.failed
            self._failed += bool(reply.failed) and not reply.unreadable
            if not self._answered and self._failed >= _GIVE_UP:
                raise InputError(
                    f"the judge does not answer: {reply.failed} (the first {self._failed} requests failed)"
                )
            self._progress(self._done, len(self._todo), "answers")
