"""A Ray actor's side: one worker process, its limits, its replacement when it dies.

Ray decides where a supervisor lives; the work itself runs in a process beneath it, the same as the local engine's, so
that a crash, a hang or runaway memory ends in the same words on any machine, and the supervisor, which Ray would be
slow to replace, stays. Tasks and results pass through as bytes: nothing heavy is imported here.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.process import BaseProcess
from typing import cast

from rushes.workers.limits import ATTEMPTS, Limits
from rushes.workers.worker import Crash, death


@dataclass(frozen=True, slots=True)
class Conditions:
    """What every task of a run shares: the function, pickled, where relative paths start, and the limits."""

    work: bytes
    folder: str
    threads: str | None
    """The driver's OMP_NUM_THREADS: Ray sets one of its own for every worker, the local engine does not."""
    limits: Limits


@dataclass(frozen=True, slots=True)
class Answer:
    """What the work function gave: (error, result), pickled by the worker."""

    pickled: bytes


@dataclass(frozen=True, slots=True)
class Unseen:
    """A file that the task reads and this node does not have."""

    path: str
    node: str


class Supervisor:
    """Runs one task at a time in a worker process of its own."""

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        self._worker = _Worker(conditions)

    def hello(self) -> tuple[str, bytes]:
        """This node's name, and (identity, fault) as the worker sent it; b"" when it died before it could."""
        return socket.gethostname(), self._worker.hello()

    def run(self, task: bytes, files: Sequence[str]) -> Answer | Crash | Unseen:
        """One task to its end: tried once more when its worker died, given up when that one dies too."""
        for path in files:
            if not os.path.exists(os.path.join(self._conditions.folder, path)):
                return Unseen(path, socket.gethostname())
        outcome: Answer | Crash = Crash("was never started")
        for _ in range(ATTEMPTS):
            outcome = self._worker.run(task)
            if isinstance(outcome, Answer):
                return outcome
            self._worker.stop()
            self._worker = _Worker(self._conditions)
            if not outcome.may_retry:
                return outcome
        return outcome


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        self._pipe, far_end = Pipe()
        folder = conditions.folder if os.path.isdir(conditions.folder) else None
        self._process = subprocess.Popen(  # this interpreter  # nosec B603
            [sys.executable, "-m", "rushes.workers.isolated", str(far_end.fileno()), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            pass_fds=[far_end.fileno()],
            cwd=folder,
            env=_environment(conditions.threads),
        )
        far_end.close()
        self._hello: bytes | None = None
        self._served = 0
        self._send(conditions.work)

    def hello(self) -> bytes:
        if self._hello is None:
            try:
                self._hello = self._pipe.recv_bytes()
            except (EOFError, OSError):
                self._hello = b""
        return self._hello

    def run(self, task: bytes) -> Answer | Crash:
        started = time.monotonic()
        self._served += 1
        self._send(task)
        if not self.hello():
            return self._dead()
        limits = self._conditions.limits
        while not self._pipe.poll(limits.patience(started)):
            excess = limits.excess(self._process.pid, started=started, served=self._served)
            if excess is not None:
                return excess
        try:
            return Answer(self._pipe.recv_bytes())
        except (EOFError, OSError):
            return self._dead()

    def stop(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.wait()

    def _send(self, content: bytes) -> None:
        try:
            self._pipe.send_bytes(content)
        except OSError:
            return  # it died; the next read says so

    def _dead(self) -> Crash:
        return Crash(death(cast(BaseProcess, _Ended(self._process.wait()))))


@dataclass(frozen=True, slots=True)
class _Ended:
    """A process that has been waited for, as `death` takes it."""

    exitcode: int

    def join(self) -> None:
        """It has ended."""


def _environment(threads: str | None) -> dict[str, str]:
    """The worker imports what this process can, and computes with as many threads as the local engine's would."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    paths = os.pathsep.join(path for path in sys.path if path)
    return environment | {"PYTHONPATH": paths} | ({} if threads is None else {"OMP_NUM_THREADS": threads})
