"""The worker process itself: serve tasks, end with the parent, be the first to go when memory runs out.

It is a fresh interpreter (`main`) or a template's copy (`rushes.workers.forking`), and never runs the caller's
`__main__`. It says "ready" once the work function is imported, then for each task "begin", the parts of a work
function that is a generator, and "done". What it prints goes into a file that the parent reads when it dies; before
each task the file is emptied.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rushes.core.errors import InputError
from rushes.core.machine.collection import uncollected
from rushes.core.machine.memory import ran_out_of_memory
from rushes.core.machine.packages import listen
from rushes.core.machine.platforms import ending_with, keep_freed_memory
from rushes.core.registry import load
from rushes.workers.wire import Inbox, Message, packed, send

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
MARK_BYTES = 128
"""The head of the file that a worker prints into: the name of the package's metric that is at work, or nothing."""


def main(pipe: int, parent: int, reference: str) -> None:
    """The life of a worker in an interpreter of its own, on the socket whose descriptor it inherited."""
    os.set_inheritable(pipe, False)  # a program that the work starts must not keep it open
    belong_to(parent)
    with importing():
        work = load(reference)
    serve(pipe, work)


@contextmanager
def importing() -> Iterator[None]:
    """Around large imports: no garbage is looked for, and numpy's OpenBLAS has one thread.

    It starts one for every core otherwise, unless the user has said how many. Workers are one for every core already,
    and only a process with one thread can be forked. Afterwards nothing is left of it: a program that the work starts
    is the user's, and has all cores.
    """
    is_ours = BLAS_THREADS not in os.environ
    if is_ours:
        os.environ[BLAS_THREADS] = "1"
    try:
        with uncollected():
            yield
    finally:
        if is_ours:
            del os.environ[BLAS_THREADS]


def belong_to(parent: int) -> None:
    """End with the parent, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ending_with(parent)()  # without Linux it ends after the current task


def serve(pipe: int, work: Callable[[Any], Any]) -> None:
    """Do the tasks that come, until the parent is gone."""
    _go_first_when_memory_runs_out()
    keep_freed_memory()
    listen(_mark)
    tasks = Inbox(pipe)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        send(pipe, Message("ready"))
        while True:
            _serve(pipe, work, tasks.receive())


def _serve(pipe: int, work: Callable[[Any], Any], task: Message) -> None:
    send(pipe, Message("begin"))
    os.ftruncate(1, 0)
    _mark("")
    os.lseek(1, MARK_BYTES, os.SEEK_SET)
    try:
        result = work(_loaded(task))
        if isinstance(result, Generator):
            result = _parts_sent(pipe, result)
        answer = packed("done", result)
    except Exception as error:  # carried to the parent, which raises it
        answer = Message("no memory") if ran_out_of_memory(error) else packed("error", error)
    send(pipe, answer)


def _parts_sent(pipe: int, parts: Generator[Any, None, Any]) -> Any:
    """Send what a work function yields as parts; what it returns is the answer."""
    while True:
        try:
            part = next(parts)
        except StopIteration as end:
            return end.value
        send(pipe, packed("part", part))


def _mark(name: str) -> None:
    """Write down who is at work, where the parent finds it whatever becomes of this process."""
    os.pwrite(1, name.encode()[:MARK_BYTES].ljust(MARK_BYTES, b"\0"), 0)


def _loaded(task: Message) -> Any:
    try:
        return task.value()
    except (AttributeError, ImportError, pickle.UnpicklingError) as error:
        raise InputError(
            f"a worker cannot load its task ({error}); keep its classes in a module, not in a script"
        ) from (None)


def _go_first_when_memory_runs_out() -> None:
    """Ask the kernel to stop this worker, which can be replaced, before the parent, which holds the run together."""
    with suppress(OSError):  # no Linux, or not allowed: the kernel chooses as it does
        Path("/proc/self/oom_score_adj").write_text("1000")
