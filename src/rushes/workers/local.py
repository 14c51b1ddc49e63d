"""Work in processes on this machine, where a task that crashes, hangs or eats memory takes down its worker alone.

One process per core with one decode thread each is the quickest way to use a machine for clips: a second thread inside
one clip gains nothing. Results come back in finishing order with their index; the caller merges in input order.

A task is blamed for the death of its worker only once the worker has said that it began it. A worker that dies at its
start is started again, and when that fails too the run ends with one line: no task is at fault.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from multiprocessing.connection import wait
from typing import TypeVar

from rushes.core.errors import RunError
from rushes.workers.limits import NO_LIMITS, Crash, Limits
from rushes.workers.source import STARTS, Source, cannot_start
from rushes.workers.template import TemplateGone
from rushes.workers.wire import Message
from rushes.workers.worker import WorkerProcess, reference

__all__ = ["Crash", "Pool", "cpu_count", "run_tasks"]

Task = TypeVar("Task")
Result = TypeVar("Result")

_ATTEMPTS = 2
"""A worker can die for reasons that are not the task's; a task that kills two is at fault."""
_AHEAD_BYTES = 4 * 1024
"""A task up to this size is sent to a worker that is busy, so that it never waits for the parent. A larger one could
fill the socket while the worker, with a large result, waits for the parent to read."""


def cpu_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    limits: Limits = NO_LIMITS,
) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in finishing order.

    `work` is a function at the top of a module, which workers import by name; tasks and results travel by pickle. A
    task that passes one of the `limits` is stopped; a worker that dies at a task (a decoder crash, the system out of
    memory) is replaced and the task tried once more. All of these end as a `Crash`. Any other exception in `work` is a
    defect and is raised here. Workers that cannot be started are a `RunError`.
    """
    limits.require_possible()
    if not tasks:
        return
    with closing(Pool(reference(work), min(max(jobs, 1), len(tasks)), limits=limits)) as pool:
        for index, outcome in pool.drain(len(tasks), lambda index: pickle.dumps(tasks[index])):
            yield index, outcome if isinstance(outcome, Crash) else outcome.value()


class Pool:
    """A number of workers for one function, given as "module:name"."""

    def __init__(
        self,
        work: str,
        size: int,
        *,
        limits: Limits = NO_LIMITS,
        attempts: int = _ATTEMPTS,
        ahead: int = 1,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`ahead` is how many tasks a busy worker may hold: many where the parent may be late to give it more."""
        self._source = Source(work, several=size > 1, folder=folder, environment=environment)
        self._size, self._limits, self._attempts, self._ahead = size, limits, attempts, ahead
        self._waiting: deque[int] = deque()
        self._again: deque[int] = deque()
        """Tasks whose worker died; only a worker that has served nothing takes them, so that they are judged alone."""
        self._tried: Counter[int] = Counter()
        self._failed_starts = 0
        self._stopping = False
        self._workers: list[WorkerProcess] = []

    def drain(self, count: int, task: Callable[[int], bytes]) -> Iterator[tuple[int, Message | Crash]]:
        """Yield (number, outcome) for tasks 0 to count − 1 in finishing order, and every part on the way.

        `task` gives the pickle of a task when it is its turn. `RunError` when workers cannot be started.
        """
        self._waiting, self._again, self._tried = deque(range(count)), deque(), Counter()
        self.start()
        while not self._stopping and (self._waiting or self._again or any(worker.held for worker in self._workers)):
            self._hand_out(task)
            for worker, outcome in self._news():
                number = worker.held[0]
                if isinstance(outcome, Message):
                    if outcome.kind != "part":
                        worker.held.popleft()
                        # The worker is at its next task already; one more keeps it so while the caller stores this.
                        self._hand_out(task)
                    yield number, outcome
                    continue
                self._tried[number] += 1
                again = outcome.may_retry and self._tried[number] < self._attempts
                if not again:
                    worker.held.popleft()
                self._remove(worker)
                self.start()
                if not again:
                    yield number, outcome

    def start(self) -> None:
        """Start as many workers as are missing; they get tasks once they are ready."""
        try:
            while len(self._workers) < self._size and not self._stopping:
                self._workers.append(self._source.worker())
                if self._stopping:  # by another thread, which did not see this one
                    self._workers[-1].kill()
        except TemplateGone:  # stopped by another thread in the middle of a start
            return
        except OSError as error:
            raise RunError(f"a worker process cannot be started ({error})") from None

    def kill(self) -> None:
        """End all workers, from any thread: a `drain` under way in another ends."""
        self._stopping = True
        self._source.kill()
        for worker in self._workers:
            worker.kill()

    def close(self) -> None:
        """End all workers and let go of them."""
        while self._workers:
            self._remove(self._workers[0])
        self._source.close()

    def _hand_out(self, task: Callable[[int], bytes]) -> None:
        """A task for every idle worker, then some ahead for the busy ones while there are plenty."""
        for worker in self._workers:
            queue = self._again if self._again and worker.is_fresh else self._waiting
            if queue and worker.is_ready and not worker.held:
                number = queue.popleft()
                worker.give({number: task(number)})
        for worker in self._workers:
            # The last tasks wait for whoever is free first.
            ahead = max(1, min(self._ahead, len(self._waiting) // (2 * len(self._workers))))
            if len(self._waiting) > len(self._workers) and 1 <= len(worker.held) <= (ahead + 1) // 2:
                worker.give(self._some_ahead(task, 1 + ahead - len(worker.held), worker.room))

    def _some_ahead(self, task: Callable[[int], bytes], most: int, room: int) -> dict[int, bytes]:
        """The next tasks, as many as wanted where they are small."""
        taken: dict[int, bytes] = {}
        while len(taken) < most:
            content = task(self._waiting[0])
            room -= len(content)
            if len(content) > _AHEAD_BYTES or (taken and room < 0):
                break
            taken[self._waiting.popleft()] = content
        return taken

    def _news(self) -> list[tuple[WorkerProcess, Message | Crash]]:
        """Wait for news of tasks: parts, answers, deaths, limits passed. Deaths at no task are dealt with here."""
        heard = [worker for worker in self._workers if worker.has_news]
        outcomes = [(worker, worker.read(self._limits)) for worker in heard] or self._heard()
        news: list[tuple[WorkerProcess, Message | Crash]] = []
        for worker, outcome in [] if self._stopping else outcomes:
            if isinstance(outcome, Crash) and worker.began is None:
                self._failed_start(worker, outcome)
            elif outcome is not None:
                self._failed_starts = 0
                news.append((worker, outcome))
        return news

    def _heard(self) -> list[tuple[WorkerProcess, Message | Crash | None]]:
        """What each worker has to tell, once any has, or has passed a limit."""
        patience = (self._limits.patience(worker.began) for worker in self._workers)
        seconds = min((seconds for seconds in patience if seconds is not None), default=None)
        readable = set(wait([worker.fileno() for worker in self._workers], seconds))
        return [
            (worker, worker.read(self._limits) if worker.fileno() in readable else worker.excess(self._limits))
            for worker in ([] if self._stopping else self._workers)
        ]

    def _failed_start(self, worker: WorkerProcess, crash: Crash) -> None:
        """Start another; after several in a row go on with the workers that are left, or give up where none is."""
        reason = worker.last_line() or crash.reason
        self._remove(worker)
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            self.start()
        elif not self._workers:
            raise cannot_start(reason)
        else:
            self._size = len(self._workers)
            self._waiting.extendleft(reversed(self._again))  # no fresh worker may come for these
            self._again.clear()

    def _remove(self, worker: WorkerProcess) -> None:
        """End a worker; the tasks it still holds wait again."""
        for number in reversed(worker.held):
            (self._again if self._tried[number] else self._waiting).appendleft(number)
        self._workers.remove(worker)
        worker.stop()
