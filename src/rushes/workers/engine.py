"""Which engine runs the tasks: processes on this machine, or a Ray cluster. Results never depend on the choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal, TypeVar

from rushes.errors import InputError
from rushes.workers import local
from rushes.workers.local import Crash

__all__ = ["LOCAL", "Crash", "Engine", "connected", "gpu_count", "run_tasks"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Kind = Literal["local", "ray"]
Needs = Callable[[Task], Sequence[str | None]]
"""The files a task reads, to tell a node that cannot see them from a clip that cannot be read."""

_ADDRESS = re.compile(r"auto|[^\s:/]+:\d+|\[[0-9a-fA-F:]+\]:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Where work runs: `Engine()` is this machine, `Engine(kind="ray", address="10.0.0.1:6379")` a cluster.

    Without an address the environment's RAY_ADDRESS is used; where that is not set either, a Ray of this machine alone
    is started and stopped with the work.

    >>> Engine(kind="ray", address="head").kind
    Traceback (most recent call last):
    rushes.errors.InputError: a Ray address is host:port or auto; got 'head'
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
    if engine.kind == "local":
        workers = jobs or local.cpu_count()
        return local.run_tasks(work, tasks, jobs=workers, timeout=timeout, memory_mb=memory_mb)
    from rushes.workers import ray as on_ray

    return on_ray.run_tasks(
        work,
        tasks,
        address=engine.address,
        jobs=jobs,
        timeout=timeout,
        memory_mb=memory_mb,
        needs=needs,
        gpus=gpus,
    )
