"""Reading clips in worker processes while the network works, handed over in input order.

Each worker is a process of its own (`rushes.distribution.decode_worker`), so a decoder that crashes takes one clip
with it and not the run, and the caller's `__main__` is never run again. A clip's segments wait in a small queue; a
full queue stops the worker, so memory stays flat however many clips there are.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from rushes.distribution.clip_reading import Kind, Segment, Task, at_hand, clip_digest, clip_segments, crash_line
from rushes.errors import RushesError
from rushes.remote.errors import Unreachable

_WAITING = 4
"""Segments of one clip that may wait for the network."""

Message: TypeAlias = tuple[Kind, "Segment | str"]
"""("segment", array), then ("done", the clip's digest), ("failed", why), or ("lost", why its store did not answer)."""


@dataclass(frozen=True, slots=True)
class Event:
    """One message and the number of the clip it is about."""

    clip: int
    kind: Kind
    payload: Segment | str


def read_here(task: Task) -> Iterator[Message]:
    """Read one clip in this process."""
    try:
        with at_hand(task) as here:
            for segment in clip_segments(here):
                yield "segment", segment
            digest = clip_digest(here.clip)
        yield "done", digest
    except Unreachable as error:
        yield "lost", str(error)
    except RushesError as error:
        yield "failed", str(error)
    except (OSError, MemoryError) as error:
        yield "failed", f"{task.clip.name}: {error or 'not enough memory'}"


def read_clips(tasks: Sequence[Task], *, workers: int) -> Iterator[Event]:
    """All clips' messages, clip after clip in the given order; 0 workers reads in this process."""
    if workers < 1:
        for number, task in enumerate(tasks):
            for kind, payload in read_here(task):
                yield Event(number, kind, payload)
        return
    with _Pool(min(workers, max(len(tasks), 1))) as pool:
        yield from pool.read(tasks)


class _Pool:
    """Threads that each drive one worker process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._stop = threading.Event()
        self._local = threading.local()
        self._processes: list[_Worker] = []
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="rushes-decode")

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for process in self._processes:
            process.kill()  # its thread then sees the end of the pipe
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.end()

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        waiting: deque[tuple[int, queue.Queue[Message]]] = deque()
        upcoming = iter(enumerate(tasks))
        while True:
            while len(waiting) < 2 * self._workers and (following := next(upcoming, None)) is not None:
                box: queue.Queue[Message] = queue.Queue(_WAITING)
                waiting.append((following[0], box))
                self._threads.submit(self._drive, following[1], box)
            if not waiting:
                return
            number, box = waiting.popleft()
            while True:
                kind, payload = box.get()
                yield Event(number, kind, payload)
                if kind != "segment":
                    break

    def _drive(self, task: Task, box: queue.Queue[Message]) -> None:
        """Run one task on this thread's worker, started anew if the last one died."""
        worker: _Worker | None = getattr(self._local, "worker", None)
        if worker is None or not worker.alive:
            worker = _Worker()
            self._local.worker = worker
            self._processes.append(worker)
        ended = False
        for message in worker.run(task):
            ended = message[0] != "segment"
            if not self._put(box, message):
                return
        if not ended:
            self._put(box, ("failed", crash_line(task.clip)))

    def _put(self, box: queue.Queue[Message], message: Message) -> bool:
        while not self._stop.is_set():
            with suppress(queue.Full):
                box.put(message, timeout=0.2)
                return True
        return False


class _Worker:
    """One process that reads tasks from its input and writes messages to its output."""

    def __init__(self) -> None:
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(  # this interpreter  # nosec B603
            [sys.executable, "-m", "rushes.distribution.decode_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def run(self, task: Task) -> Iterator[Message]:
        """Messages of one task; they end early when the process dies."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            pickle.dump(task, self._process.stdin)
            self._process.stdin.flush()
            while (message := read_message(self._process.stdout)) is not None:
                yield message
                if message[0] != "segment":
                    return
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            pass  # the process is gone; the caller reports the clip
        self.end()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Stop the process, wait for it, close its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def write_message(out: IO[bytes], message: Message) -> None:
    """A header, then an array's bytes as they are."""
    kind, payload = message
    if isinstance(payload, np.ndarray):
        pickle.dump((kind, payload.shape), out)
        out.write(np.ascontiguousarray(payload, np.float32).data)
    else:
        pickle.dump((kind, payload), out)
    out.flush()


def read_message(source: IO[bytes]) -> Message | None:
    """The next message; None at the end."""
    try:
        kind, content = pickle.load(source)  # from our own worker  # nosec B301
    except EOFError:
        return None
    if kind != "segment":
        return kind, content
    values: Any = np.empty(content, np.float32)
    if source.readinto(values.data.cast("B")) != values.nbytes:  # type: ignore[attr-defined]
        raise EOFError("the worker stopped in the middle of an array")
    return kind, values
