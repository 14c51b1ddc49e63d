"""A Ray actor's side: a pool of one worker process on a node.

Ray decides where a supervisor lives; the work itself runs in a process beneath it, the same as the local engine's, so
that a crash, a hang or runaway memory ends in the same words on any machine, and the supervisor, which Ray would be
slow to replace, stays. Tasks and results pass through packed: nothing heavy is imported here.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from rushes.errors import RunError
from rushes.workers.identity import identity
from rushes.workers.limits import Crash, Limits
from rushes.workers.local import Pool
from rushes.workers.wire import Message


@dataclass(frozen=True, slots=True)
class Node:
    """The machine beneath a supervisor, what it has in common with others, and why no worker can be started there."""

    name: str
    identity: dict[str, str]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Unseen:
    """A file that the task reads and this node does not have."""

    path: str
    node: str


class Supervisor:
    """Runs one task at a time in a worker process of its own."""

    def __init__(self, work: str, limits: Limits, *, folder: str, threads: str | None) -> None:
        """Relative paths start from `folder`. `threads` is the driver's OMP_NUM_THREADS: Ray sets one of its own."""
        self._folder = folder
        environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
        self._pool = Pool(
            work,
            1,
            limits=limits,
            folder=folder if os.path.isdir(folder) else None,
            environment=environment | ({} if threads is None else {"OMP_NUM_THREADS": threads}),
        )

    def hello(self) -> Node:
        """This node; its worker starts meanwhile."""
        self._pool.start()
        return Node(socket.gethostname(), identity())

    def run(self, task: bytes, files: Sequence[str]) -> Message | Crash | Unseen | Node:
        """One task to its end; the node where no worker can be started."""
        for path in files:
            if not os.path.exists(os.path.join(self._folder, path)):
                return Unseen(path, socket.gethostname())
        try:
            [(_, outcome)] = self._pool.drain(1, lambda _: task)
        except RunError as error:
            return Node(socket.gethostname(), identity(), fault=str(error))
        return outcome
