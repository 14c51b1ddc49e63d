"""The same tasks on a Ray cluster: one supervisor per core, tasks handed out as they finish, results as they come.

A supervisor (`supervisor.py`) holds a worker process like the local engine's. Two tasks at most wait at each, so that
none idles and the driver never holds more than it hands out. A supervisor that is lost, with its node or alone, gives
its tasks back; nodes that join later get supervisors of their own.
"""

from __future__ import annotations

import os
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from rushes.core.errors import RunError
from rushes.workers.limits import Crash, Limits
from rushes.workers.ray_session import load_ray, session
from rushes.workers.supervisor import Node, Supervisor, Unseen, difference, identity
from rushes.workers.worker import reference

Task = TypeVar("Task")
Result = TypeVar("Result")

_AHEAD = 2
"""Tasks at a supervisor: the one at work, and the next."""
_LOSSES = 3
"""How often a task may lose its supervisor. A crash of the work does not reach it, so a loss is hardly the task's."""
_LOOK_EVERY_S = 0.5
"""How often the cluster is asked for its size while nothing else happens."""
_FAILED_STARTS = 5
"""Supervisors that may fail to start in a row before the run gives up."""


def run_tasks(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    address: str | None,
    jobs: int | None,
    limits: Limits,
    needs: Callable[[Task], Sequence[str | None]],
    gpus: int,
) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in finishing order; see `rushes.workers.engine.run_tasks`."""
    limits.require_possible()
    if not tasks:
        return
    ray = load_ray()
    with session(address, jobs=jobs):
        # Without Ray's record of every task, which nobody reads: it takes a part of each core.
        kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, enable_task_events=False)(Supervisor)
        threads = os.environ.get("OMP_NUM_THREADS")
        start = partial(kind.remote, reference(work), limits, folder=os.getcwd(), threads=threads)
        pool: _Pool[Task, Result] = _Pool(ray, start, tasks, needs, jobs, gpus)
        try:
            yield from pool.drain()
        except ray.exceptions.RaySystemError as error:
            reason = " ".join(str(error).split())[:300]
            raise RunError(f"the Ray cluster failed ({reason}); once it runs, the same command continues") from None
        finally:
            pool.stop()


@dataclass(eq=False)
class _Member:
    """One supervisor, and what it has yet to answer: its hello first, then tasks in order."""

    actor: Any
    pending: deque[tuple[Any, int | None]] = field(default_factory=deque)
    """(reference to the answer, number of the task); None for the hello."""

    @property
    def is_ready(self) -> bool:
        return not self.pending or self.pending[0][1] is not None

    @property
    def tasks(self) -> list[int]:
        return [number for _, number in self.pending if number is not None]


@dataclass(eq=False)
class _Pool(Generic[Task, Result]):
    _ray: Any
    _start: Callable[[], Any]
    _tasks: Sequence[Task]
    _needs: Callable[[Task], Sequence[str | None]]
    _jobs: int | None
    _gpus: int
    _members: list[_Member] = field(default_factory=list)
    _losses: Counter[int] = field(default_factory=Counter)
    _vanished: set[int] = field(default_factory=set)
    _identity: dict[str, str] = field(default_factory=lambda: identity())
    _failed_starts: int = 0
    _size: int = 0
    _looked: float = float("-inf")

    def __post_init__(self) -> None:
        self._waiting = deque(range(len(self._tasks)))

    def drain(self) -> Iterator[tuple[int, Result | Crash]]:
        while self._waiting or any(member.tasks for member in self._members):
            self._grow()
            self._hand_out()
            for member in self._with_news():
                yield from self._take(member)

    def stop(self) -> None:
        for member in self._members:
            self._ray.kill(member.actor, no_restart=True)
        self._members.clear()

    def _grow(self) -> None:
        """As many supervisors as the cluster has room for, and no more than tasks are left."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_EVERY_S:
            self._size, self._looked = self._room(), now
        busy = sum(bool(member.tasks) for member in self._members)
        while len(self._members) < min(self._size, busy + len(self._waiting)):
            member = _Member(self._start())
            member.pending.append((member.actor.hello.remote(), None))
            self._members.append(member)

    def _room(self) -> int:
        if self._jobs is not None:
            return self._jobs
        resources = self._ray.cluster_resources()
        room = int(resources.get("GPU", 0)) // self._gpus if self._gpus else int(resources.get("CPU", 0))
        if not room and not self._members:
            raise RunError(
                "the Ray cluster has no core (or GPU) to work with; start a worker node: ray start --address=…"
            )
        return room

    def _hand_out(self) -> None:
        for ahead in range(_AHEAD):
            for member in self._members:
                # The last tasks go to whoever is free, not behind another.
                enough = len(self._waiting) > (len(self._members) if ahead else 0)
                if enough and member.is_ready and len(member.pending) == ahead:
                    self._give(member, self._waiting.popleft())

    def _give(self, member: _Member, number: int) -> None:
        task = self._tasks[number]
        files = () if number in self._vanished else self._files(task)
        reference = member.actor.run.remote(pickle.dumps(task), files)
        member.pending.append((reference, number))

    def _files(self, task: Task) -> tuple[str, ...]:
        return tuple(path for path in self._needs(task) if path is not None and "://" not in path)

    def _with_news(self) -> list[_Member]:
        """Members whose oldest question is answered, or who are gone; waits a moment for the first."""
        heads = {member.pending[0][0]: member for member in self._members if member.pending}
        ready, _ = self._ray.wait(list(heads), num_returns=1, timeout=_LOOK_EVERY_S)
        if ready and len(heads) > 1:
            ready, _ = self._ray.wait(list(heads), num_returns=len(heads), timeout=0)
        return [heads[reference] for reference in ready]

    def _take(self, member: _Member) -> Iterator[tuple[int, Result | Crash]]:
        reference, number = member.pending[0]
        errors = self._ray.exceptions
        try:
            answer = self._ray.get(reference)
        except (errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            yield from self._lose(member, error)
            return
        member.pending.popleft()
        if number is None or isinstance(answer, Node):
            self._check(answer)
        elif isinstance(answer, Unseen):
            self._unseen(number, answer)
        else:
            yield number, answer if isinstance(answer, Crash) else answer.value()

    def _lose(self, member: _Member, error: Exception) -> Iterator[tuple[int, Crash]]:
        """Take a lost supervisor's tasks back; only the one at work counts it as a loss."""
        self._members.remove(member)
        self._ray.kill(member.actor, no_restart=True)
        if not member.is_ready:
            self._failed_start(error)
        lost = member.tasks
        self._waiting.extendleft(reversed(lost))
        self._losses.update(lost[:1])
        if lost and self._losses[lost[0]] >= _LOSSES:
            self._waiting.remove(lost[0])
            yield lost[0], Crash(f"its worker on Ray was lost {_LOSSES} times")

    def _failed_start(self, error: Exception) -> None:
        reason = " ".join(str(error).split())
        if "No module named 'rushes'" in reason or "failed to import" in reason:
            version = self._identity.get("rushes", "")
            raise RunError(f"a node of the Ray cluster has no Rushes; install version {version} on every node")
        self._failed_starts += 1
        if self._failed_starts >= _FAILED_STARTS:
            raise RunError(f"workers cannot be started on the Ray cluster ({reason[:300]})")

    def _check(self, node: Node) -> None:
        """Refuse a node whose numbers could mean something else, or where no worker can be started."""
        differs = difference(self._identity, node.identity)
        if differs:
            raise RunError(
                f"node {node.name} of the Ray cluster differs from this machine: {differs}; install the same version"
            )
        if node.fault:
            raise RunError(f"node {node.name} of the Ray cluster: {node.fault}")
        self._failed_starts = 0

    def _unseen(self, number: int, unseen: Unseen) -> None:
        """A file that only this machine has is a mistake in the set-up; one that is gone here too is the task's."""
        if os.path.exists(unseen.path):
            raise RunError(
                f"{unseen.path}: node {unseen.node} of the Ray cluster cannot see this file; put it where every node "
                "has it under the same path, or in a bucket (s3://, gs://)"
            )
        self._vanished.add(number)
        self._waiting.appendleft(number)
