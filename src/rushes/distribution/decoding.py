"""Reading clips in worker processes while the network works, handed over in input order.

A decoder that crashes takes one clip with it and not the run. A clip's segments wait in a small queue; a full queue
stops the worker, so memory stays flat however many clips there are.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from rushes.distribution.clip_reading import Kind, Segment, Task, at_hand, clip_digest, clip_segments, crash_line
from rushes.errors import RushesError
from rushes.remote.errors import Unreachable
from rushes.workers.local import Crash, Pool
from rushes.workers.worker import reference

_WAITING = 4
"""Segments of one clip that may wait for the network."""

Message: TypeAlias = tuple[Kind, "Segment | str"]
"""("segment", array), then ("done", the clip's digest), ("failed", why), or ("lost", why its store did not answer)."""
Box: TypeAlias = "queue.Queue[Message | Exception]"


@dataclass(frozen=True, slots=True)
class Event:
    """One message and the number of the clip it is about."""

    clip: int
    kind: Kind
    payload: Segment | str


def read_clip(task: Task) -> Iterator[Message]:
    """Read one clip in this process."""
    try:
        with at_hand(task) as local:
            for segment in clip_segments(local):
                yield "segment", segment
            digest = clip_digest(local.clip)
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
            for kind, payload in read_clip(task):
                yield Event(number, kind, payload)
        return
    readers = _Readers(min(workers, max(len(tasks), 1)))
    try:
        yield from readers.read(tasks)
    finally:
        readers.stop()


class _Readers:
    """Threads that each empty one worker process, so that it decodes on while the network works."""

    def __init__(self, count: int) -> None:
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        # One attempt: segments of a clip that crashes half-way may have gone to the network already.
        self._pools = [Pool(reference(read_clip), 1, attempts=1, environment=one_thread) for _ in range(count)]
        self._idle: queue.SimpleQueue[Pool] = queue.SimpleQueue()
        for pool in self._pools:
            self._idle.put(pool)
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="rushes-decode")

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        waiting: deque[tuple[int, Box]] = deque()
        upcoming = iter(enumerate(tasks))
        while True:
            while len(waiting) < 2 * len(self._pools) and (following := next(upcoming, None)) is not None:
                box: Box = queue.Queue(_WAITING)
                waiting.append((following[0], box))
                self._threads.submit(self._drive, following[1], box)
            if not waiting:
                return
            yield from _events(*waiting.popleft())

    def stop(self) -> None:
        self._stopping.set()
        for pool in self._pools:
            pool.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for pool in self._pools:
            pool.close()

    def _drive(self, task: Task, box: Box) -> None:
        """Read one clip in a worker that is idle; there is one for every thread."""
        pool = self._idle.get()
        try:
            for _, outcome in pool.drain(1, lambda _: pickle.dumps(task)):
                if isinstance(outcome, Crash):
                    self._put(box, ("failed", crash_line(task.clip)))
                elif outcome.kind == "part":
                    self._put(box, outcome.value())
                else:
                    outcome.value()  # raises a defect
        except Exception as error:  # raised again where the clips are read
            self._put(box, error)
        self._idle.put(pool)

    def _put(self, box: Box, message: Message | Exception) -> None:
        while not self._stopping.is_set():
            with suppress(queue.Full):
                return box.put(message, timeout=0.2)


def _events(number: int, box: Box) -> Iterator[Event]:
    """A clip's messages up to its last."""
    kind: Kind = "segment"
    while kind == "segment":
        message = box.get()
        if isinstance(message, Exception):
            raise message
        kind, payload = message
        yield Event(number, kind, payload)
