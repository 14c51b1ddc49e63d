"""A Ray actor's side: a pool of one worker process on a node.

Ray decides where a supervisor lives; the work itself runs in a process beneath it, the same as the local engine's, so
that a crash, a hang or runaway memory ends in the same words on any machine, and the supervisor, which Ray would be
slow to replace, stays. Tasks and results pass through packed: nothing heavy is imported here. Before its first task a
node tells what it must have in common with the driver: the code, and the packages behind the numbers.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rushes.core.errors import RunError
from rushes.core.machine.provenance import environment, short_digest
from rushes.workers.limits import Crash, Limits
from rushes.workers.local import Pool
from rushes.workers.wire import Message

_MAY_DIFFER = ("python", "system")
"""Recorded in a run, but no part of what decides a value."""


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
        variables = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
        self._pool = Pool(
            work,
            1,
            limits=limits,
            folder=folder if os.path.isdir(folder) else None,
            environment=variables | ({} if threads is None else {"OMP_NUM_THREADS": threads}),
        )

    def hello(self) -> Node:
        """This node; its worker starts meanwhile."""
        fault = ""
        try:
            self._pool.start()
        except RunError as error:
            fault = str(error)
        return Node(socket.gethostname(), identity(), fault)

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


def identity() -> dict[str, str]:
    """Versions of Rushes and of the packages that can move a value, and a digest of Rushes' own source."""
    facts = {name: version for name, version in environment().items() if name not in _MAY_DIFFER}
    return facts | {"rushes source": short_digest(source_digest(Path(__file__).parents[1]))}


def source_digest(package: Path) -> str:
    """sha256 over every Python file of a package, its place included: two copies with equal digests define alike."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def difference(own: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The first fact in which a node differs, in words; "" when it can stand in for this machine.

    An optional package that is on one side only is no difference: work that needs it says so.

    >>> difference({"rushes": "0.2.0", "av": "18.0.0"}, {"rushes": "0.2.0", "av": "17.1.0"})
    'av 17.1.0 there, 18.0.0 here'
    """
    for name in own:
        if name in other and other[name] != own[name]:
            return f"{name} {other[name]} there, {own[name]} here"
    return ""
