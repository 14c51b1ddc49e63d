"""Reading clips in worker processes while the network works, handed over as they come.

A decoder that crashes takes one clip with it and not the run. What waits for the network is bounded: a full queue, or
slots that are all taken, stop a worker, so memory stays flat however many clips there are.

A clip comes over in one of two forms: prepared windows (resized and normalised in the worker), or raw frames with the
windows over them, for a network on a device that prepares them itself. What a clip has to say at its end comes in one
piece, so that a short clip is one message.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rushes.core.errors import InputError, RushesError
from rushes.instruments.distribution.clips.frame_slots import InSlot, Raw, SlotWriter, slot_writer, slots_each
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
from rushes.media.frames import Frame
from rushes.storage.remote.errors import Unreachable
from rushes.workers.engine import worker_count
from rushes.workers.local import Crash, Pool
from rushes.workers.worker import reference

if TYPE_CHECKING:
    from rushes.instruments.distribution.clips.raw_frames import RawWindow

_POLL_S = 0.002
_AHEAD = 64
"""Clips that a process holds: while torch is loaded and kernels are compiled, Python's lock is seldom free here, and
processes that were given clips one at a time would decode a tenth of what they can."""
_BEHIND = 10
"""How far decoding processes step back, as `nice` counts."""

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


Payload: TypeAlias = "Segment | Pixels | InSlot | Window | RawWindow | Done | str"
Message: TypeAlias = tuple[Kind, Payload]


@dataclass(frozen=True, slots=True)
class Event:
    """One message and the number of the clip it is about."""

    clip: int
    kind: Kind
    payload: Payload


Parts: TypeAlias = "Generator[list[Message], None, list[Message]]"
"""Messages as they come; those at the end of a clip are what it returns."""


def read_clip(task: Task) -> Parts:
    """Read one clip in this process."""
    seen = Seen()
    rest: list[Message] = []
    if task.slots:
        _step_back()
    try:
        with at_hand(task) as local:
            if task.raw:
                rest = yield from _raw(local, seen)
            else:
                for segment in clip_segments(local, seen=seen):
                    yield [("segment", segment)]
            digest = clip_digest(local.clip)
        facts = read_facts(seen.frames, task.windows, fps=seen.fps, times_ms=seen.times_ms)
        return [*rest, ("done", Done(digest, facts))]
    except Unreachable as error:
        return [*rest, ("lost", str(error))]
    except RushesError as error:
        return [*rest, ("failed", str(error))]
    except (OSError, MemoryError) as error:
        return [*rest, ("failed", f"{task.clip.name}: {error or 'not enough memory'}")]


@cache
def _step_back() -> None:
    """Let the process that feeds the network go first: decoders take every core that it leaves.

    Beside decoders of its own rank, on as many cores, that process takes twice as long to load torch and compile.
    """
    os.nice(_BEHIND)


def _raw(task: Task, seen: Seen) -> Parts:
    """Frames into slots, or into messages where there are none, and each window once its last frame is there."""
    writer = slot_writer(task.slots) if task.slots else None
    windows = task.windows
    cutter: Cutter[int] = Cutter(windows)

    def named(window: list[int] | None) -> list[Message]:
        if window is None:
            return []
        held: list[Message] = [("frames", place) for place in ([] if writer is None else writer.flush())]
        later = windows.stride if windows.cut == "sliding" else len(window)
        return [*held, ("window", Window(tuple(window), window[0] + later))]

    unsent: list[Message] = []
    try:
        for number, frame in enumerate(clip_frames(task, seen=seen, look=_look(writer))):
            if unsent:
                now, unsent = unsent, []
                yield now
            unsent += [("frames", place) for place in _placed(writer, frame)] + named(cutter.push(number))
        last, unsent = unsent + named(cutter.end()), []
        return last
    finally:
        if writer is not None:
            writer.drop([place for _, place in unsent if isinstance(place, InSlot)])


def _look(writer: SlotWriter | None) -> Callable[[Frame], Raw]:
    """How a frame is taken: its planes where the device can make RGB of them, else RGB."""
    return Frame.rgb if writer is None else partial(_stored, most=writer.slot_bytes)


def _stored(frame: Frame, most: int) -> Raw:
    planes = frame.planes()
    return frame.rgb() if planes is None or planes.nbytes > most else planes


def _placed(writer: SlotWriter | None, frame: Raw) -> Sequence[InSlot | Pixels]:
    if writer is not None:
        return writer.put(frame)
    assert isinstance(frame, np.ndarray)
    return [frame[None]]


_Events: TypeAlias = "queue.SimpleQueue[tuple[int, list[Message]] | Exception | None]"


class Decoders(AbstractContextManager["Decoders"]):
    """Decoding processes, started at the first use and kept from set to set; 0 reads in this process."""

    def __init__(self, workers: int) -> None:
        self.workers = max(workers, 0)
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
        # One attempt: windows of a clip that crashes half-way may have gone to the network already.
        self._pool = Pool(reference(read_clip), self.workers, attempts=1, ahead=_AHEAD, environment=one_thread)
        self._slots = slots_each(self.workers) if self.workers else 0
        self._stopping = threading.Event()
        self._wanted: queue.SimpleQueue[tuple[Sequence[Task], _Events] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._begun: deque[tuple[Sequence[Task], _Events]] = deque()

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        self._stopping.set()
        self._wanted.put(None)
        self._pool.kill()
        if self._thread is not None:
            self._thread.join()
        self._pool.close()

    def as_raw(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks with raw frames handed over, in slots where there are processes."""
        return [replace(task, raw=True, slots=self._slots) for task in tasks]

    def begin(self, tasks: Sequence[Task]) -> None:
        """Have the processes read these, after those begun before, until `read` asks for them in the same order.

        They go as far as the slots reach.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="rushes-decode", daemon=True)
            self._thread.start()
        events: _Events = queue.SimpleQueue()
        self._begun.append((tasks, events))
        self._wanted.put((tasks, events))
        if self._stopping.is_set():
            events.put(None)  # nobody reads any more

    def can_read(self, tasks: Sequence[Task]) -> bool:
        """Whether these are next, or nothing was begun."""
        return not self._begun or self._begun[0][0] == tasks

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """All clips' messages, each clip's in order, clips as they come."""
        if self.workers < 1:
            for number, task in enumerate(tasks):
                for messages in _to_the_end(read_clip(task)):
                    yield from (Event(number, *message) for message in messages)
            return
        if not self._begun:
            self.begin(tasks)
        assert self.can_read(tasks), "another set was begun"
        _, events = self._begun.popleft()
        while (heard := events.get()) is not None:
            if isinstance(heard, Exception):
                raise heard
            number, messages = heard
            yield from (Event(number, *message) for message in messages)

    def _serve(self) -> None:
        """Hear the workers while the network works; one thread for all sets, since workers end with theirs."""
        while (wanted := self._wanted.get()) is not None:
            self._drain(*wanted)

    def _drain(self, tasks: Sequence[Task], events: _Events) -> None:
        try:
            for number, outcome in self._pool.drain(len(tasks), lambda number: pickle.dumps(tasks[number])):
                if isinstance(outcome, Crash):
                    events.put((number, [("failed", crash_line(tasks[number].clip))]))
                else:
                    self._put(number, outcome.value(), events)  # raises a defect
            events.put(None)
        except Exception as error:  # raised again where the clips are read
            events.put(error)

    def _put(self, number: int, messages: list[Message], events: _Events) -> None:
        """Hand over; pixels in messages wait until few others do, those in slots are bounded by the slots."""
        if any(isinstance(payload, np.ndarray) for _, payload in messages):
            while events.qsize() >= 2 * self.workers and not self._stopping.wait(_POLL_S):
                pass
        events.put((number, messages))


def _to_the_end(parts: Parts) -> Iterator[list[Message]]:
    """What a generator gives, and then what it returns."""
    yield (yield from parts)


def decoders(jobs: int | None, clips: int) -> int:
    """Decoding processes beside the network: as many as asked for, but not more than cores or clips."""
    if jobs is not None and jobs < 0:
        raise InputError(f"expected 0 or more decoding processes; got {jobs}")
    cores = worker_count()
    return min(cores if jobs is None else jobs, cores, clips)
