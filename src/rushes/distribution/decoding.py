"""Reading clips in worker processes while the network works, handed over as they come.

A decoder that crashes takes one clip with it and not the run. What waits for the network is bounded: a full queue, or
slots that are all taken, stop a worker, so memory stays flat however many clips there are.

A clip comes over in one of two forms: prepared windows (resized and normalised in the worker), or raw frames with the
windows over them, for a network on a device that prepares them itself.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from rushes.distribution.clip_reading import Segment, Task, at_hand, clip_digest, clip_frames, clip_segments, crash_line
from rushes.distribution.frame_slots import FrameSlots, InSlot, LaneWriter
from rushes.distribution.pictures import Pixels
from rushes.distribution.segments import Cutter
from rushes.errors import RushesError
from rushes.remote.errors import Unreachable
from rushes.workers.local import Crash, Pool
from rushes.workers.worker import reference

if TYPE_CHECKING:
    import torch

Kind: TypeAlias = Literal["segment", "frames", "window", "done", "failed", "lost"]
"""segment: a prepared window. frames: raw frames, each following those before; window: one over frames that came.
Then done: the clip's digest; failed: why; or lost: why its store did not answer."""


@dataclass(frozen=True, slots=True)
class Window:
    """One window over a clip's raw frames: their numbers, and the first frame that a later window may want."""

    frames: tuple[int, ...]
    keep_from: int


Payload: TypeAlias = "Segment | Pixels | InSlot | Window | torch.Tensor | str"
Message: TypeAlias = tuple[Kind, Payload]


@dataclass(frozen=True, slots=True)
class Event:
    """One message, the number of the clip it is about, and the lane it came by."""

    clip: int
    kind: Kind
    payload: Payload
    lane: int = 0


def read_clip(task: Task) -> Iterator[Message]:
    """Read one clip in this process."""
    try:
        with at_hand(task) as local:
            if task.raw:
                yield from _raw(local)
            else:
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


def _raw(task: Task) -> Iterator[Message]:
    """Frames into the lane's slots, or into messages without one, and each window once its last frame is there."""
    writer = None if task.lane is None else LaneWriter(task.lane)
    cutter: Cutter[int] = Cutter(task.windows)

    def told(window: list[int] | None) -> Iterator[Message]:
        if window is None:
            return
        if writer is not None and (rest := writer.flush()) is not None:
            yield "frames", rest
        later = task.windows.stride if task.windows.cut == "sliding" else len(window)
        yield "window", Window(tuple(window), window[0] + later)

    for number, frame in enumerate(clip_frames(task)):
        place = frame[None] if writer is None else writer.put(frame)
        if place is not None:
            yield "frames", place
        yield from told(cutter.push(number))
    yield from told(cutter.end())


def read_clips(tasks: Sequence[Task], *, workers: int, slots: FrameSlots | None = None) -> Iterator[Event]:
    """All clips' messages, each clip's in order, clips as they come; 0 workers reads in this process.

    `slots`, of as many lanes as workers, is where raw frames are left: read them there, then `free` the slot.
    """
    if workers < 1:
        for number, task in enumerate(tasks):
            for kind, payload in read_clip(task):
                yield Event(number, kind, payload)
        return
    readers = _Readers(min(workers, max(len(tasks), 1)), slots)
    try:
        yield from readers.read(tasks)
    finally:
        readers.stop()


class _Readers:
    """Threads that each empty one worker process, so that it decodes on while the network works."""

    def __init__(self, count: int, slots: FrameSlots | None) -> None:
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        self._slots = slots
        # One attempt: windows of a clip that crashes half-way may have gone to the network already.
        self._pools = [Pool(reference(read_clip), 1, attempts=1, environment=one_thread) for _ in range(count)]
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="rushes-decode")
        self._tasks: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
        self._events: queue.Queue[Event | Exception | None] = queue.Queue(2 * count)

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        for item in enumerate(tasks):
            self._tasks.put(item)
        for lane in range(len(self._pools)):
            self._threads.submit(self._drive, lane)
        idle = 0
        while idle < len(self._pools):
            event = self._events.get()
            if isinstance(event, Exception):
                raise event
            if event is None:
                idle += 1
            else:
                yield event

    def stop(self) -> None:
        self._stopping.set()
        for pool in self._pools:
            pool.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for pool in self._pools:
            pool.close()

    def _drive(self, lane: int) -> None:
        """Read one clip after the other in the lane's process until there are none."""
        try:
            with suppress(queue.Empty):
                while not self._stopping.is_set():
                    self._read(lane, *self._tasks.get_nowait())
            self._put(None)
        except Exception as error:  # raised again where the clips are read
            self._put(error)

    def _read(self, lane: int, number: int, task: Task) -> None:
        pool = self._pools[lane]
        if task.raw and self._slots is not None:
            task = replace(task, lane=self._slots.lane(lane))
        for _, outcome in pool.drain(1, lambda _: pickle.dumps(task)):
            if isinstance(outcome, Crash):
                if self._slots is not None:
                    self._slots.recover(lane)
                self._put(Event(number, "failed", crash_line(task.clip), lane))
            elif outcome.kind == "part":
                kind, payload = outcome.value()
                if self._slots is not None and isinstance(payload, InSlot):
                    self._slots.named(lane, payload)
                self._put(Event(number, kind, payload, lane))
            else:
                outcome.value()  # raises a defect

    def _put(self, event: Event | Exception | None) -> None:
        while not self._stopping.is_set():
            with suppress(queue.Full):
                return self._events.put(event, timeout=0.2)
