"""Which engine runs the tasks: processes on this machine, or a Ray cluster. Results never depend on the choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from rushes.core.errors import InputError
from rushes.core.machine.memory import ran_out_of_memory
from rushes.workers import local
from rushes.workers.limits import Crash, Limits
from rushes.workers.wire import packed
from rushes.workers.worker import reference

__all__ = ["LOCAL", "Crash", "Engine", "connected", "gpu_count", "inline_work", "run_tasks", "worker_count"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Kind = Literal["local", "ray"]
Needs = Callable[[Task], Sequence[str | None]]
"""The files a task reads, to tell a node that cannot see them from a clip that cannot be read."""

_is_inline = False
"""Whether the local engine works in this process; see `inline_work`."""
_ADDRESS = re.compile(r"auto|[^\s:/]+:\d+|\[[0-9a-fA-F:]+\]:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where work runs: `Engine()` is this machine, `Engine(kind="ray", address="10.0.0.1:6379")` a cluster.

    Without an address the environment's RAY_ADDRESS is used; where that is not set either, a Ray of this machine alone
    is started and stopped with the work.

    >>> Engine(kind="ray", address="head").kind
    Traceback (most recent call last):
    rushes.core.errors.InputError: a Ray address is host:port or auto; got 'head'
    """

    kind: Kind = "local"
    address: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("local", "ray"):
            raise InputError(f"an engine is local or ray; got {self.kind!r}")
        if self.kind == "local" and self.address is not None:
            raise InputError(f"an address needs the engine ray; got {self.address!r} with the engine local")
        if self.address is not None and not _ADDRESS.fullmatch(self.address):
            raise InputError(f"a Ray address is host:port or auto; got {self.address!r}")


LOCAL = Engine()


@contextmanager
def inline_work(is_inline: bool = True) -> Iterator[None]:
    """Inside, the local engine starts no process and works in this one, in every thread: small clips cost less so.

    Internal, for tests and demonstrations: there is no isolation. False brings the processes back.
    """
    global _is_inline
    before, _is_inline = _is_inline, is_inline
    try:
        yield
    finally:
        _is_inline = before


def worker_count() -> int:
    """Worker processes that fill this machine: one for every core, none inside `inline_work`."""
    return 0 if _is_inline else local.cpu_count()


def connected(engine: Engine, *, jobs: int | None = None) -> AbstractContextManager[None]:
    """Stay connected to the engine over several `run_tasks`; nothing to do for processes on this machine."""
    if engine.kind == "local":
        return nullcontext()
    from rushes.workers.ray_session import session

    return session(engine.address, jobs=jobs)


def gpu_count(engine: Engine) -> int:
    """GPUs of the cluster that is connected; 0 for processes on this machine, which take none."""
    if engine.kind == "local":
        return 0
    from rushes.workers.ray_session import load_ray

    return int(load_ray().cluster_resources().get("GPU", 0))


def run_tasks(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    engine: Engine = LOCAL,
    jobs: int | None = None,
    timeout: float | None = None,
    memory_mb: int | None = None,
    needs: Needs[Task] = lambda task: (),
    gpus: int = 0,
) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in finishing order, as `rushes.workers.local.run_tasks` does.

    `jobs` is the number of workers: the cores of this machine when left out, those of the cluster on Ray. `needs` names
    the files a task reads: a node of the cluster that cannot see one stops the run, with a line that says so. `gpus` is
    what each worker on Ray asks the cluster for.
    """
    if engine.kind == "local" and _is_inline:
        return _run_here(work, tasks)
    limits = Limits(timeout, memory_mb)
    if engine.kind == "local":
        return local.run_tasks(work, tasks, jobs=jobs or worker_count(), limits=limits)
    from rushes.workers import ray as on_ray

    return on_ray.run_tasks(work, tasks, address=engine.address, jobs=jobs, limits=limits, needs=needs, gpus=gpus)


def _run_here(work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result | Crash]]:
    """Yield (index, result) for every task, in order, in the shapes of `rushes.workers.local.run_tasks`.

    Tasks and results still travel by pickle, so a task cannot change what its caller holds, and what a worker could not
    be sent fails here too. A task that crashes takes the process with it, and nobody watches time or memory.
    """
    if tasks:
        reference(work)  # what a worker could not import is refused here too
    for index in range(len(tasks)):
        try:
            for outcome in _outcomes(work, tasks[index]):
                yield index, packed("done", outcome).value()
        except Exception as error:
            if not ran_out_of_memory(error):
                raise
            yield index, Crash("ran out of memory", may_retry=False)


def _outcomes(work: Callable[[Any], Any], task: object) -> Iterator[Any]:
    """The parts of a work function that is a generator, then None; of any other its result."""
    result = work(packed("task", task).value())
    if isinstance(result, Iterator):
        yield from result
        result = None
    yield result
