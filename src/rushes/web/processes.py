"""Several processes behind one port: each has its own socket there, and the kernel shares the connections out.

The process that was started answers no request. It binds the sockets, starts a worker for each, starts another where
one ends, and ends them all with itself. A socket outlives its worker: who connects meanwhile waits for the next one.

A worker is given its settings as one line of JSON on its standard input, where no list of processes shows them, says
"ready" on its standard output, and stops in order when its standard input ends: it never outlives the one that asked.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess  # a list of our own, never a shell  # nosec B404
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import IO, TypeAlias

from rushes.core.errors import RushesError

log = logging.getLogger("rushes.web")

Settings: TypeAlias = Mapping[str, object]
STOP_S = 30.0
"""A worker that has not ended so long after it was asked to is killed."""
READY = "ready"


def listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """So many sockets on one address. `OSError` where another program has it; port 0 picks a free one for all."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as probe:  # alone: another server there is an error
        port = int(probe.getsockname()[1])
    return [socket.create_server((host, port), family=family, backlog=2048, reuse_port=True) for _ in range(count)]


class Worker:
    """One process that answers on one socket."""

    def __init__(self, command: Sequence[str], listener: socket.socket, settings: Settings) -> None:
        descriptor = listener.fileno()
        self.process = subprocess.Popen(  # our own interpreter and module  # nosec B603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=(descriptor,)
        )
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # it ended at once, which `await_ready` says
            self.process.stdin.write(json.dumps({**settings, "listener": descriptor}) + "\n")
            self.process.stdin.flush()

    def await_ready(self) -> bool:
        """Whether it came so far as to answer requests."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip() == READY

    def end(self, until: float) -> None:
        """Wait for its end until then; kill it after that."""
        try:
            self.process.wait(timeout=max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


class Processes:
    """As many workers as there are sockets, until this process is told to stop."""

    def __init__(self, sockets: Sequence[socket.socket], command: Sequence[str], settings: Settings) -> None:
        self._sockets, self._command, self._settings = list(sockets), list(command), settings
        self._workers: list[Worker] = []
        self._stopping = threading.Event()

    def start(self) -> None:
        """All of them answer when this returns; `RushesError` where one cannot, which has said why."""
        self._workers = [self._one(number) for number in range(len(self._sockets))]
        if not all([worker.await_ready() for worker in self._workers]):
            self.stop()
            raise RushesError("the server's processes could not start; the reason is above")

    def watch(self) -> None:
        """Start another for each that ends, until told to stop; returns when all have ended."""
        with _signals(lambda *_: self._stopping.set()):
            while not self._stopping.wait(0.2):
                self.tend()
        self.stop()

    def tend(self) -> None:
        """Start another for each that has ended."""
        for number, worker in enumerate(self._workers):
            if worker.process.poll() is not None:
                self._replace(number)

    def stop(self) -> None:
        """No new connections; requests under way are answered."""
        self._stopping.set()
        for listener in self._sockets:
            listener.close()
        for worker in self._workers:
            with suppress(ProcessLookupError):
                worker.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + STOP_S
        for worker in self._workers:
            worker.end(until)

    def _one(self, number: int) -> Worker:
        return Worker(self._command, self._sockets[number], {**self._settings, "number": number + 1})

    def _replace(self, number: int) -> None:
        ended = self._workers[number]
        log.warning(
            "worker %d of the server ended (exit code %s); starting another", number + 1, ended.process.returncode
        )
        ended.end(0)
        self._workers[number] = self._one(number)
        if not self._workers[number].await_ready():
            self._stopping.wait(1.0)  # it will be tried again; not in a hurry


@contextmanager
def _signals(told: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C set the flag for as long as the block runs."""
    with ExitStack() as stack:
        for number in (signal.SIGTERM, signal.SIGINT):
            stack.callback(signal.signal, number, signal.signal(number, told))
        yield


def read_settings(stream: IO[str]) -> dict[str, object]:
    """A worker's settings."""
    settings: dict[str, object] = json.loads(stream.readline())
    return settings


def end_with(stream: IO[str]) -> None:
    """Stop this worker in order when the process that started it has gone: its end of the stream closes."""

    def wait() -> None:
        stream.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="parent", daemon=True).start()


def say_ready() -> None:
    """Said once; what is printed from then on goes where warnings go, because nobody reads the other end any more."""
    print(READY, flush=True)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
