"""A template of workers, seen from the process that uses it: one start and one import for any number of workers.

On Linux a pool of several workers starts one interpreter that imports the work function, and forks workers from it
(`forking.py`). A `rushes` command goes one better: it forks the template from itself (`standing_by`), before it has a
second thread, and imports nothing twice. Where forking is not safe (macOS, work whose import starts threads), or not
wanted (`RUSHES_WORKERS=fresh`), each worker is an interpreter of its own, as it is on a Ray node.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from tempfile import TemporaryFile
from typing import IO, Protocol

from rushes.core.machine.platforms import await_end, is_own_process
from rushes.workers import forking
from rushes.workers.child import importing
from rushes.workers.forking import REQUEST_BYTES
from rushes.workers.limits import death

VARIABLE = "RUSHES_WORKERS"
"""Set to "fresh", it has every worker started as a process of its own."""
_CLOSE_S = 5.0
_START = (
    "import sys; sys.path[:] = sys.argv[3:]; import rushes.workers.child; from rushes.workers.forking import main; "
    "main(int(sys.argv[1]), int(sys.argv[2]))"
)


class Process(Protocol):
    """What a parent needs of a process it started; `subprocess.Popen` is one."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class TemplateGone(Exception):
    """The template has ended, or cannot fork; its reason."""


class Template:
    """A process that workers are forked from."""

    def __init__(self, process: Process, channel: socket.socket, output: IO[bytes]) -> None:
        self._process, self._channel, self._output = process, channel, output
        self._gone = ""
        """Why it can be asked nothing more."""

    def load(self, work: str) -> int:
        """Import the work function, "module:name"; how many threads the template has then."""
        return self._asked(f"load {work}")

    def fork(self, pipe: socket.socket, output: IO[bytes]) -> Process:
        """A worker on the other end of `pipe`; what it prints goes into `output`."""
        return Forked(self, self._asked("fork", [pipe.fileno(), output.fileno()]))

    def exit_code(self, pid: int) -> int:
        """How a worker ended; one that has closed its socket and does not end is killed."""
        try:
            return self._asked(f"wait {pid}")
        except TemplateGone:  # the kernel sends SIGKILL to the workers of a template that ends
            _see_off(pid)
            return -signal.SIGKILL

    def kill(self) -> None:
        """End the template and with it all its workers."""
        self._process.kill()

    def close(self) -> None:
        """Let the template end its workers and go."""
        self._gone = self._gone or "it was let go"
        self._channel.close()
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def _asked(self, request: str, descriptors: list[int] | None = None) -> int:
        if not self._gone:
            answer = b""
            with suppress(OSError):
                socket.send_fds(self._channel, [request.encode()], descriptors or [])
                answer = self._channel.recv(REQUEST_BYTES)
            if answer:
                return int(answer)
            code = self._process.wait()  # its end of the channel is closed
            self._gone = last_line(self._output) or death(code)
        raise TemplateGone(self._gone)


class Forked:
    """A worker that a template forked; the template alone can wait for it."""

    def __init__(self, template: Template, pid: int) -> None:
        self.pid = pid
        self._template = template
        self._code: int | None = None

    def kill(self) -> None:
        """End it; until it is waited for, its number belongs to nobody else."""
        if self._code is None:
            with suppress(ProcessLookupError):  # gone with its template
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, which the template waits for, and not for ever."""
        if self._code is None:
            self._code = self._template.exit_code(self.pid)
        return self._code


class _Copy:
    """A copy of this process, as `Popen` would have it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code


_waiting: Template | None = None
"""Forked from this process, and not yet used."""


def can_fork() -> bool:
    """Whether workers are forked on this system."""
    return sys.platform == "linux" and os.environ.get(VARIABLE) != "fresh"


def forkable() -> AbstractContextManager[None]:
    """Around the imports of a `rushes` command that is to stand by as a template: they leave it its one thread."""
    return importing() if is_own_process() and can_fork() else nullcontext()


@contextmanager
def standing_by() -> Iterator[None]:
    """Inside, a template forked from this process waits for the first pool, if this is a `rushes` command.

    It has to begin before anything starts a thread, as a progress bar does; where something has, there is none.
    """
    global _waiting
    if is_own_process() and can_fork() and forking.threads() == 1:
        _waiting = _forked()
    try:
        yield
    finally:
        if _waiting is not None:
            taken().close()


def is_standing_by() -> bool:
    """Whether a template of this process waits for a pool."""
    return _waiting is not None


def taken() -> Template:
    """The template that stands by; the caller closes it."""
    global _waiting
    assert _waiting is not None
    template, _waiting = _waiting, None
    return template


def started(folder: str | None, environment: Mapping[str, str] | None) -> Template:
    """A template in a fresh interpreter, which does not know the caller's `__main__`."""
    channel, child = socket.socketpair(type=socket.SOCK_SEQPACKET)
    output = TemporaryFile()
    with child:
        process = subprocess.Popen(  # this interpreter  # nosec B603
            [sys.executable, "-P", "-c", _START, str(child.fileno()), str(os.getpid()), *paths()],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[child.fileno()],
            cwd=folder,
            env=environment,
        )
    return Template(process, channel, output)


def paths() -> list[str]:
    """The parent's `sys.path`: a worker imports what its parent would."""
    return [path for path in sys.path if isinstance(path, str)]


def last_line(output: IO[bytes]) -> str:
    """The last line a process printed; the error of one that could not start."""
    output.seek(0)
    lines = output.read().rpartition(b"\0")[2].decode(errors="replace").split("\n")  # after a worker's mark
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _see_off(pid: int) -> None:
    """Wait until a process that is not ours to wait for has ended."""
    await_end(pid, _CLOSE_S)


def _forked() -> Template:
    channel, child = socket.socketpair(type=socket.SOCK_SEQPACKET)
    output = TemporaryFile()
    parent = os.getpid()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pid = os.fork()
    if pid == 0:
        _be_template(child, output, parent)
    child.close()
    return Template(_Copy(pid), channel, output)


def _be_template(channel: socket.socket, output: IO[bytes], parent: int) -> None:
    """Never returns. Every descriptor but these becomes one of /dev/null, and keeps its number.

    The lock of a run directory is then the parent's alone, and an object of the parent's that is thrown away here
    closes nothing of ours.
    """
    code = 1
    try:
        gc.freeze()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor not in (1, 2, null, output.fileno(), channel.fileno()):
                with suppress(OSError):  # the listing's own
                    os.fstat(descriptor)
                    os.dup2(null, descriptor, inheritable=descriptor == 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        forking.answer(channel, parent)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)
