"""Work that goes wrong in every way a clip can make it; a module of its own, so that workers can import it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(n: int) -> int:
    return n * n


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
