"""Work that goes wrong in every way a clip can make it; a module of its own, so that workers can import it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def square(n: int) -> int:
    return n * n


def reverse(task: bytes) -> bytes:
    return task[::-1]


def grow(task: list[str]) -> list[str]:
    task.append("b")
    return task


def pid(_: object) -> int:
    return os.getpid()


def spin(folder: str) -> None:
    """Leave the process's number, then never read the socket again: only the kernel can end this."""
    (Path(folder) / str(os.getpid())).touch()
    while True:
        pass


def print_and_die(_: int) -> None:
    print("what a library has to say", flush=True)
    os._exit(7)


def ramp(length: int) -> Iterator[NDArray[np.float32]]:
    """A stream of three arrays."""
    for start in range(3):
        yield np.arange(start, start + length, dtype=np.float32)


def misbehave(task: tuple[str, str]) -> str:
    """Do what the word says; the folder remembers across workers."""
    kind, folder = task
    if kind == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "exit":
        os._exit(7)
    if kind == "hang":
        time.sleep(600)
    if kind == "no-room":
        raise MemoryError
    if kind == "first-time-only":
        marker = Path(folder) / "tried"
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return kind


def eat(megabytes: int) -> int:
    """Hold this much memory, piece by piece as a runaway decoder does, then say how much."""
    pieces = []
    for _ in range(megabytes // 10):
        pieces.append(b"\1" * (10 * 2**20))
        time.sleep(0.01)
    return 10 * len(pieces)


def fail(_: int) -> int:
    raise ValueError("a defect")


def meet(task: tuple[str, int]) -> int:
    """Wait until so many supervisors have been seen in the folder; the one above this process."""
    folder, wanted = task
    (Path(folder) / str(os.getppid())).touch()
    end = time.monotonic() + 120
    while len(os.listdir(folder)) < wanted and time.monotonic() < end:
        time.sleep(0.02)
    return os.getppid()


def kill_supervisor(_: int) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def visible_gpus(_: int) -> str | None:
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def open_files(_: int) -> list[str]:
    """Where this process's descriptors lead, but for its own three."""
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    return [os.readlink(f"/proc/self/fd/{n}") for n in numbers if n > 2 and os.path.exists(f"/proc/self/fd/{n}")]


def forebears(_: int) -> tuple[int, int]:
    """The process that this one is a copy of, and that one's parent."""
    parent = os.getppid()
    return parent, int(Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[1])


def kill_template(folder: str) -> str:
    """End the process that this one is a copy of, once."""
    marker = Path(folder) / "killed"
    if not marker.exists():
        marker.touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    return "done"


def threads_and_variable(_: int) -> tuple[int, str | None]:
    """Threads of this process, and what a program that it starts would hear of OpenBLAS."""
    return len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS")
