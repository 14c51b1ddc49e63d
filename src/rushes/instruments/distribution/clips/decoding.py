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
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rushes.core.errors import InputError, RushesError
from rushes.instruments.distribution.clips.frame_slots import InSlot, slot_writer
from rushes.instruments.distribution.clips.reading import (
    Seen,
    Segment,
    Task,
    at_hand,
    clip_frames,
    clip_segments,
    crash_line,
)
from rushes.instruments.distribution.clips.segments import Cutter
from rushes.instruments.distribution.show.remarks import ReadFacts, read_facts
from rushes.media.find.sequences import Pixels, clip_digest
from rushes.storage.remote.errors import Unreachable
from rushes.workers.engine import worker_count
from rushes.workers.local import Crash, Pool
from rushes.workers.worker import reference

if TYPE_CHECKING:
    import torch

Kind: TypeAlias = Literal["segment", "frames", "window", "done", "failed", "lost"]
"""segment: a prepared window. frames: raw frames, each following those before; window: one over frames that came.
Then done: the clip's digest and facts; failed: why; or lost: why its store did not answer."""


@dataclass(frozen=True, slots=True)
class Window:
    """One window over a clip's raw frames: their numbers, and the first frame that a later window may want."""

    frames: tuple[int, ...]
    keep_from: int


@dataclass(frozen=True, slots=True)
class Done:
    """A clip that was read to its end: its digest, and what showed on the way."""

    digest: str
    facts: ReadFacts


Payload: TypeAlias = "Segment | Pixels | InSlot | Window | torch.Tensor | Done | str"
Message: TypeAlias = tuple[Kind, Payload]


@dataclass(frozen=True, slots=True)
class Event:
    """One message and the number of the clip it is about."""

    clip: int
    kind: Kind
    payload: Payload


def read_clip(task: Task) -> Iterator[Message]:
    """Read one clip in this process."""
    seen = Seen()
    try:
        with at_hand(task) as local:
            if task.raw:
                yield from _raw(local, seen)
            else:
                for segment in clip_segments(local, seen=seen):
                    yield "segment", segment
            digest = clip_digest(local.clip)
        yield "done", Done(digest, read_facts(seen.frames, task.windows, fps=seen.fps, times_ms=seen.times_ms))
    except Unreachable as error:
        yield "lost", str(error)
    except RushesError as error:
        yield "failed", str(error)
    except (OSError, MemoryError) as error:
        yield "failed", f"{task.clip.name}: {error or 'not enough memory'}"


def _raw(task: Task, seen: Seen) -> Iterator[Message]:
    """Frames into slots, or into messages where there are none, and each window once its last frame is there."""
    writer = slot_writer() if task.in_slots else None
    windows = task.windows
    cutter: Cutter[int] = Cutter(windows)

    def told(window: list[int] | None) -> Iterator[Message]:
        if window is None:
            return
        if writer is not None and (rest := writer.flush()) is not None:
            yield "frames", rest
        later = windows.stride if windows.cut == "sliding" else len(window)
        yield "window", Window(tuple(window), window[0] + later)

    try:
        for number, frame in enumerate(clip_frames(task, seen=seen)):
            place = frame[None] if writer is None else writer.put(frame)
            if place is not None:
                yield "frames", place
            yield from told(cutter.push(number))
        yield from told(cutter.end())
    finally:
        if writer is not None:
            writer.drop()


_Events: TypeAlias = "queue.Queue[Event | Exception | None]"


class Decoders(AbstractContextManager["Decoders"]):
    """Decoding processes, started at the first use and kept from set to set; 0 reads in this process."""

    def __init__(self, workers: int) -> None:
        self.workers = max(workers, 0)
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        # One attempt: windows of a clip that crashes half-way may have gone to the network already.
        self._pool = Pool(reference(read_clip), self.workers, attempts=1, environment=one_thread)
        self._stopping = threading.Event()
        self._wanted: queue.SimpleQueue[tuple[Sequence[Task], _Events] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._wanted.put(None)
        self._pool.kill()
        if self._thread is not None:
            self._thread.join()
        self._pool.close()

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """All clips' messages, each clip's in order, clips as they come."""
        if self.workers < 1:
            for number, task in enumerate(tasks):
                for kind, payload in read_clip(task):
                    yield Event(number, kind, payload)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="rushes-decode", daemon=True)
            self._thread.start()
        events: _Events = queue.Queue(2 * self.workers)
        self._wanted.put((tasks, events))
        while (event := events.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event

    def _serve(self) -> None:
        """Hear the workers while the network works; one thread for all sets, since workers end with theirs."""
        while (wanted := self._wanted.get()) is not None and not self._stopping.is_set():
            self._drain(*wanted)

    def _drain(self, tasks: Sequence[Task], events: _Events) -> None:
        def put(event: Event | Exception | None) -> None:
            while not self._stopping.is_set():
                with suppress(queue.Full):
                    return events.put(event, timeout=0.2)

        try:
            for number, outcome in self._pool.drain(len(tasks), lambda number: pickle.dumps(tasks[number])):
                if isinstance(outcome, Crash):
                    put(Event(number, "failed", crash_line(tasks[number].clip)))
                elif outcome.kind == "part":
                    put(Event(number, *outcome.value()))
                else:
                    outcome.value()  # raises a defect
            put(None)
        except Exception as error:  # raised again where the clips are read
            put(error)


def decoders(jobs: int | None, clips: int) -> int:
    """Decoding processes beside the network: as many as asked for, but not more than cores or clips."""
    if jobs is not None and jobs < 0:
        raise InputError(f"expected 0 or more decoding processes; got {jobs}")
    cores = worker_count()
    return min(cores if jobs is None else jobs, cores, clips)
