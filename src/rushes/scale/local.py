"""Work in processes on this machine, where a task that crashes or hangs takes down its own worker and nothing else.

One process per core with one decode thread each is the quickest way to use a machine for clips: a second thread inside
one clip gains nothing. Results come back in finishing order with their index; the caller merges in input order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_ATTEMPTS = 2
"""A worker can die for reasons that are not the task's; a task that kills two is at fault."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A task that gave no result, and why."""

    reason: str
    may_retry: bool = True


def cpu_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, jobs: int, timeout: float | None = None
) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in finishing order.

    `work` is a module-level function; it and the tasks travel by pickle. A task that runs longer than `timeout` seconds
    is stopped; a worker that dies (a decoder crash, out of memory) is replaced and its task tried once more. Both end
    as a `Crash`. An exception in `work` is a defect and is raised here.
    """
    if not tasks:
        return
    pool = _Pool(work, min(max(jobs, 1), len(tasks)))
    try:
        yield from pool.drain(tasks, timeout)
    finally:
        pool.stop()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, context: Any, work: Callable[[Any], Any]) -> None:
        self.pipe, far_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(far_end, work), daemon=True)
        self.process.start()
        far_end.close()
        self.index: int | None = None
        self.started = 0.0

    def give(self, index: int, task: object) -> None:
        self.index, self.started = index, time.monotonic()
        self.pipe.send(task)

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


class _Pool(Generic[Task, Result]):
    def __init__(self, work: Callable[[Task], Result], size: int) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._workers = [_Worker(self._context, work) for _ in range(size)]

    def drain(self, tasks: Sequence[Task], timeout: float | None) -> Iterator[tuple[int, Result | Crash]]:
        waiting = deque(range(len(tasks)))
        attempts = [0] * len(tasks)
        while waiting or any(worker.index is not None for worker in self._workers):
            for worker in self._workers:
                if worker.index is None and waiting:
                    index = waiting.popleft()
                    attempts[index] += 1
                    self._hand_out(worker, index, tasks[index])
            for worker in self._ready(timeout):
                done = worker.index
                assert done is not None
                outcome = _collect(worker)
                if outcome is None:
                    outcome = Crash(f"took longer than {timeout:g} s", may_retry=False)
                if isinstance(outcome, Crash):
                    self._replace(worker)
                    if outcome.may_retry and attempts[done] < _ATTEMPTS:
                        waiting.appendleft(done)
                        continue
                yield done, outcome if isinstance(outcome, Crash) else outcome.result

    @staticmethod
    def _hand_out(worker: _Worker, index: int, task: Task) -> None:
        try:
            worker.give(index, task)
        except (BrokenPipeError, ConnectionResetError):
            return  # the worker died idle; its sentinel is ready and `_collect` says so

    def _ready(self, timeout: float | None) -> list[_Worker]:
        """Workers with a result, a death or a time-out to report."""
        busy = [worker for worker in self._workers if worker.index is not None]
        patience = None
        if timeout is not None:
            patience = max(0.0, min(worker.started for worker in busy) + timeout - time.monotonic())
        handles: dict[Any, _Worker] = {}
        for worker in busy:
            handles[worker.pipe] = handles[worker.process.sentinel] = worker
        done = {id(handles[handle]): handles[handle] for handle in wait(list(handles), patience)}
        late = [w for w in busy if timeout is not None and time.monotonic() - w.started >= timeout]
        return list({**done, **{id(w): w for w in late}}.values())

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
            return Crash(_death(worker))
        worker.index = None
        if error is not None:
            raise error
        return _Answer(result)
    # The sentinel closes a moment before the pipe does, and before the process can be waited for.
    return Crash(_death(worker)) if wait([worker.process.sentinel], 0) else None


def _death(worker: _Worker) -> str:
    worker.process.join()
    code = worker.process.exitcode or 0
    if code < 0:
        return f"the decoder crashed ({signal.Signals(-code).name})"
    return f"the worker stopped with exit code {code}"


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """A worker's life: take a task, send (None, result) or (error, None), until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[Exception | None, object] = (None, work(task))
        except Exception as error:  # carried to the parent, which raises it
            answer = (error, None)
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionResetError):
            return
