"""Work in processes on this machine, where a task that crashes, hangs or eats memory takes down its worker alone.

One process per core with one decode thread each is the quickest way to use a machine for clips: a second thread inside
one clip gains nothing. Results come back in finishing order with their index; the caller merges in input order. What a
worker does to stay out of the others' way is in `worker.py`.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar

from rushes.workers.limits import ATTEMPTS, Limits
from rushes.workers.worker import Crash, death, serve

__all__ = ["Crash", "cpu_count", "run_tasks"]

Task = TypeVar("Task")
Result = TypeVar("Result")

_AHEAD = 1
"""Tasks a busy worker holds beside the one at work, so that it never waits for the parent."""
_AHEAD_BYTES = 16 * 1024
"""A task larger than this is not sent ahead: both ends could wait for each other with a full pipe."""


def cpu_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int,
    timeout: float | None = None,
    memory_mb: int | None = None,
) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in finishing order.

    `work` is a module-level function; it and the tasks travel by pickle. A task that runs longer than `timeout` seconds
    or whose worker holds more than `memory_mb` megabytes (MiB, resident) is stopped; a worker that dies (a decoder
    crash, the system out of memory) is replaced and its task tried once more. All of these end as a `Crash`. Any other
    exception in `work` is a defect and is raised here.
    """
    limits = Limits(timeout, memory_mb)
    limits.require_possible()
    if not tasks:
        return
    pool = _Pool(work, min(max(jobs, 1), len(tasks)))
    try:
        yield from pool.drain(tasks, limits)
    finally:
        pool.stop()


class _Worker:
    """One process, the pipe to it, and the tasks it holds: the first is at work, the others wait in the pipe."""

    def __init__(self, context: Any, work: Callable[[Any], Any]) -> None:
        self.pipe, far_end = context.Pipe()
        self.process = context.Process(target=serve, args=(far_end, work, os.getpid()), daemon=True)
        self.process.start()
        far_end.close()
        self.held: deque[int] = deque()
        self.started = 0.0
        self.served = 0

    def give(self, index: int, payload: memoryview) -> None:
        self.held.append(index)
        if len(self.held) == 1:
            self._begin()
        with suppress(BrokenPipeError, ConnectionResetError):  # it died: the sentinel is ready and `_collect` says so
            self.pipe.send_bytes(payload)

    def end_task(self) -> None:
        """The first task is answered; the worker has gone on to the next."""
        self.held.popleft()
        if self.held:
            self._begin()

    def _begin(self) -> None:
        self.started = time.monotonic()
        self.served += 1

    def excess(self, limits: Limits) -> Crash | None:
        """The limit this worker's task has passed, if any."""
        return limits.excess(self.process.pid, started=self.started, served=self.served)

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


class _Pool(Generic[Task, Result]):
    def __init__(self, work: Callable[[Task], Result], size: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._workers = [_Worker(self._context, work) for _ in range(size)]

    def drain(self, tasks: Sequence[Task], limits: Limits) -> Iterator[tuple[int, Result | Crash]]:
        waiting = deque(range(len(tasks)))
        attempts = [0] * len(tasks)
        while waiting or any(worker.held for worker in self._workers):
            self._hand_out(waiting, tasks)
            for worker, outcome in self._outcomes(limits):
                done = worker.held[0]
                if not isinstance(outcome, Crash):
                    worker.end_task()
                    # The worker is at its next task already; one more keeps it so while the caller stores this one.
                    self._hand_out(waiting, tasks)
                    yield done, outcome.result
                    continue
                attempts[done] += 1
                again = outcome.may_retry and attempts[done] < ATTEMPTS
                waiting.extendleft(reversed(list(worker.held)[0 if again else 1 :]))
                self._replace(worker)
                if not again:
                    yield done, outcome

    def _hand_out(self, waiting: deque[int], tasks: Sequence[Task]) -> None:
        """A task for every idle worker, then one ahead for the busy ones while there are plenty."""
        for room in (1, 1 + _AHEAD):
            for worker in self._workers:
                # The last tasks wait for whoever is free first.
                if len(worker.held) < room and len(waiting) > (0 if room == 1 else len(self._workers)):
                    index = waiting[0]
                    payload = ForkingPickler.dumps(tasks[index])
                    if worker.held and len(payload) > _AHEAD_BYTES:
                        return
                    worker.give(waiting.popleft(), payload)

    def _outcomes(self, limits: Limits) -> list[tuple[_Worker, _Answer | Crash]]:
        """Wait for news; every busy worker with an answer, a death or a limit passed."""
        busy = [worker for worker in self._workers if worker.held]
        wait(
            [handle for worker in busy for handle in (worker.pipe, worker.process.sentinel)],
            limits.patience(min(worker.started for worker in busy)),
        )
        found = [(worker, _collect(worker) or worker.excess(limits)) for worker in busy]
        return [(worker, outcome) for worker, outcome in found if outcome is not None]

    def _replace(self, worker: _Worker) -> None:
        worker.stop()
        self._workers[self._workers.index(worker)] = _Worker(self._context, self._work)

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()


@dataclass(frozen=True, slots=True)
class _Answer:
    result: Any


def _collect(worker: _Worker) -> _Answer | Crash | None:
    """What a worker has to say: an answer, its death, or None while it is still at work."""
    if worker.pipe.poll():
        try:
            error, result = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            return Crash(death(worker.process))
        if error is not None:
            raise error
        return result if isinstance(result, Crash) else _Answer(result)
    # The sentinel closes a moment before the pipe does, and before the process can be waited for.
    return Crash(death(worker.process)) if wait([worker.process.sentinel], 0) else None
