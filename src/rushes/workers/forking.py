"""A template's own process: it imports the work once, and every worker is a copy of it.

It has one thread, so that a copy holds no lock that nobody would open again, and answers one request at a time: "load"
a work function, "fork" a worker on a socket and an output file that come along, "wait" for a worker's exit code. It
ends with the process that asks, and its workers end with it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rushes.core.registry import load
from rushes.workers.child import belong_to, importing, serve

REQUEST_BYTES = 4096
_EXIT_S = 5.0
"""A process whose socket has closed has an exit code a moment later; one that has none by then is killed."""


def main(channel: int, parent: int) -> None:
    """The life of a template in an interpreter of its own, on the socket whose descriptor it inherited."""
    os.set_inheritable(channel, False)
    answer(socket.socket(fileno=channel), parent)


def answer(channel: socket.socket, parent: int) -> None:
    """Do what is asked until nobody is there to ask; then end the workers that are left."""
    belong_to(parent)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    work: Callable[[Any], Any] | None = None
    workers: set[int] = set()
    while True:
        request, descriptors = _next(channel)
        if not request:
            break
        verb, _, rest = request.partition(" ")
        if verb == "load":
            work = _loaded(rest)
            reply = threads()
        elif verb == "fork":
            assert work is not None
            reply = _fork(channel, descriptors, work)
            workers.add(reply)
        else:
            reply = _exit_code(int(rest))
            workers.discard(int(rest))
        channel.send(str(reply).encode())
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _loaded(reference: str) -> Callable[[Any], Any]:
    """The work function, once everything that workers share is there: none of it is garbage to be looked for again."""
    with importing():
        work: Callable[[Any], Any] = load(reference)
    gc.freeze()
    return work


def threads() -> int:
    """Threads of this process, whoever started them; 0 where nobody can tell."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return 0


def _next(channel: socket.socket) -> tuple[str, list[int]]:
    with suppress(ConnectionResetError):
        data, descriptors, _, _ = socket.recv_fds(channel, REQUEST_BYTES, 2)
        return data.decode(), descriptors
    return "", []


def _fork(channel: socket.socket, descriptors: list[int], work: Callable[[Any], Any]) -> int:
    """The new worker's number. It leaves by `os._exit`: what the template holds is the template's to let go of."""
    pipe, output = descriptors
    template = os.getpid()
    pid = os.fork()
    if pid:
        os.close(pipe)
        os.close(output)
        return pid
    code = 1
    try:
        channel.close()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        belong_to(template)
        serve(pipe, work)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _exit_code(pid: int) -> int:
    """As `subprocess` has it: below 0 a signal."""
    end = time.monotonic() + _EXIT_S
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
