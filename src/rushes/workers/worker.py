"""One worker process, seen from its parent; the same for the local engine, for Ray and for FVD's reading of clips.

The process is forked from a template, or a fresh interpreter that imports the work function by name (`child.py`).
Neither runs the caller's script again, as Python's multiprocessing does, so a script needs no
`if __name__ == "__main__":`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from tempfile import TemporaryFile
from typing import IO, Any

from rushes.core.errors import InputError
from rushes.workers.child import MARK_BYTES
from rushes.workers.limits import Crash, Limits, death
from rushes.workers.template import Process, Template, last_line, paths
from rushes.workers.wire import Inbox, Message, send

_START = (
    "import sys; sys.path[:] = sys.argv[4:]; from rushes.workers.child import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])"
)
"""The parent's `sys.path` word for word: the worker imports what its parent would."""
_SOCKET_SHARE = 4
"""Tasks that are sent ahead fill this part of a socket at most, so that the parent never waits for room in it."""
_EXIT_S = 5.0
"""A process whose socket has closed has an exit code a moment later; one that has none by then is killed."""


def reference(work: Callable[..., Any]) -> str:
    """A function as "module:name", by which a worker imports it; `InputError` for one that cannot be imported.

    >>> reference(lambda task: task)
    Traceback (most recent call last):
    rushes.core.errors.InputError: a worker imports its function by name; '<lambda>' must be in a module, not a script
    """
    module, name = getattr(work, "__module__", "__main__"), getattr(work, "__qualname__", repr(work))
    if module == "__main__" or "<" in name:
        raise InputError(f"a worker imports its function by name; {name!r} must be in a module, not a script")
    return f"{module}:{name}"


class WorkerProcess:
    """A process, the socket to it, and the tasks it holds: the first is at work, the others wait in the socket."""

    def __init__(
        self,
        work: str,
        *,
        template: Template | None = None,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Forked from the template, which has work, folder and environment already; else started with these."""
        self._socket, child = socket.socketpair()
        self._output = TemporaryFile()
        try:
            with child:
                self._process = (
                    _fresh(work, child, self._output, folder, environment)
                    if template is None
                    else template.fork(child, self._output)
                )
        except BaseException:
            self._socket.close()
            self._output.close()
            raise
        self._inbox = Inbox(self._socket.fileno())
        self.room = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // _SOCKET_SHARE
        """Bytes of tasks that may be sent ahead together."""
        self.is_ready = False
        """Whether it has imported the work function."""
        self.held: deque[int] = deque()
        """Numbers of the tasks it was given and has not finished."""
        self.began: float | None = None
        """When the task at work began; None while none has."""
        self._served = 0

    @property
    def is_fresh(self) -> bool:
        """Whether it has had no task yet."""
        return not self.held and not self._served

    def fileno(self) -> int:
        """Readable when there is news, or when the process has ended."""
        return self._socket.fileno()

    @property
    def has_news(self) -> bool:
        """Whether `read` has something to tell that came with what it told before."""
        return self._inbox.has_message

    def give(self, tasks: Mapping[int, bytes]) -> None:
        """Send tasks by number; they wait behind those already held."""
        self.held.extend(tasks)
        with suppress(BrokenPipeError, ConnectionResetError):  # it died: `read` says so
            send(self.fileno(), *(Message("task", task) for task in tasks.values()))

    def read(self, limits: Limits) -> Message | Crash | None:
        """The next part or the end of the task at work, its crash, or None where the message was about the worker.

        A crash while `began` is None is the end of a worker that was at no task.
        """
        try:
            message = self._inbox.receive()
        except (EOFError, ConnectionResetError):
            at = self._at_work()
            return Crash(death(self._exitcode(), at), at=at)
        if message.kind == "ready":
            self.is_ready = True
        elif message.kind == "begin":
            self.began, self._served = limits.clock(), self._served + 1
        elif message.kind == "no memory":
            return Crash("ran out of memory", may_retry=False, at=self._at_work())
        else:
            self.began = self.began if message.kind == "part" else None
            return message
        return None

    def excess(self, limits: Limits) -> Crash | None:
        """The limit that the task at work has passed, if any."""
        if self.began is None:
            return None
        found = limits.excess(self._process.pid, began=self.began, served=self._served)
        return found and replace(found, at=self._at_work())

    def _at_work(self) -> str:
        """The metric of another package that the worker is at, as it wrote down itself."""
        if self.began is None:
            return ""
        return os.pread(self._output.fileno(), MARK_BYTES, 0).partition(b"\0")[0].decode(errors="replace")

    def last_line(self) -> str:
        """The last line it printed; the error of a worker that could not start."""
        return last_line(self._output)

    def kill(self) -> None:
        """End the process; `read` then finds that it is gone."""
        self._process.kill()

    def stop(self) -> None:
        """End the process and let go of the socket."""
        self.kill()
        self._process.wait()
        self._socket.close()
        self._output.close()

    def _exitcode(self) -> int:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(_EXIT_S)
        self.kill()
        return self._process.wait()


def _fresh(
    work: str, pipe: socket.socket, output: IO[bytes], folder: str | None, environment: Mapping[str, str] | None
) -> Process:
    return subprocess.Popen(  # this interpreter  # nosec B603
        [sys.executable, "-P", "-c", _START, str(pipe.fileno()), str(os.getpid()), work, *paths()],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[pipe.fileno()],
        cwd=folder,
        env=environment,
    )
