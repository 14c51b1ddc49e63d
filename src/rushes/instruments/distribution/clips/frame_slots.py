"""Memory that a decoding process fills and another reads: raw frames cross over without being copied or pickled.

A decoding process has slots of one size in an anonymous file of its own. It waits until a slot is free, writes frames
into it (RGB, or the planes they are stored as) and names it in a message; whoever has read it frees it. Slots beyond
the first few are touched only where the reader falls behind. Where a system has no such files, and for a frame
larger than a slot, frames travel in the message. The memory goes when both processes have let go of it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.memory import available_memory
from rushes.core.machine.platforms import memory_file
from rushes.media.find.sequences import Pixels
from rushes.media.yuv import YuvFactors, YuvPlanes

SLOT_BYTES = 16 << 20
"""21 frames of 512×512 as RGB, 42 as planes; 2 or 5 of 1920×1080."""
SLOTS = 8
"""What a process fills while the one that reads waits for Python's lock, which another thread holds to load torch."""
MOST_SLOTS = 128
SHARE_OF_MEMORY = 4
"""All slots together take at most this part of the memory that is free."""
HEAD_BYTES = 4096
"""Before the slots: one byte for each, 1 from when it is begun until it is read."""
_POLL_S = 0.0005
_MADV_REMOVE = 9
"""madvise(2): free the pages and what backs them."""

Raw: TypeAlias = "Pixels | YuvPlanes"
"""One frame as a decoding process hands it over."""


@dataclass(frozen=True, slots=True)
class InSlot:
    """Frames in a slot, as a message names them."""

    file: str
    """How another process of this user opens the memory."""
    slot: int
    start: int
    """Where in the memory the frames begin."""
    count: int
    height: int
    width: int
    factors: YuvFactors | None
    """Of frames stored as planes, Y then U then V; None: RGB."""

    @property
    def frame_bytes(self) -> int:
        """Of one frame."""
        pixels = self.height * self.width
        return pixels * 3 if self.factors is None else pixels * 3 // 2

    @property
    def nbytes(self) -> int:
        """Of all of them."""
        return self.count * self.frame_bytes


class SlotWriter:
    """The slots, in the process that fills them."""

    def __init__(self, descriptor: int, *, slots: int, slot_bytes: int) -> None:
        self._slots, self.slot_bytes = slots, slot_bytes
        self._memory = np.frombuffer(mmap.mmap(descriptor, 0), np.uint8)
        # the pages of the first slots are made here, in all processes at once; where they are pinned it would be in one
        self._memory[: HEAD_BYTES + min(slots, SLOTS) * slot_bytes : mmap.PAGESIZE] = 0
        self._file = f"/proc/{os.getpid()}/fd/{descriptor}"  # open as long as this process lives
        self._slot, self._held = -1, 0
        self._form: tuple[int, int, YuvFactors | None] = (0, 0, None)

    def put(self, frame: Raw) -> list[InSlot | Pixels]:
        """Store a frame. What to name now: slots that are full, or the frame itself where none can hold it."""
        form = (*frame.size, frame.factors) if isinstance(frame, YuvPlanes) else (*frame.shape[:2], None)
        named: list[InSlot | Pixels] = []
        if self._held and form != self._form:
            named += self.flush()
        if frame.nbytes > self.slot_bytes:
            assert isinstance(frame, np.ndarray)
            return [*named, np.ascontiguousarray(frame[None])]
        if self._slot < 0:
            self._slot, self._form = self._free_slot(), form
        self._store(frame)
        self._held += 1
        return named + (self.flush() if (self._held + 1) * frame.nbytes > self.slot_bytes else [])

    def flush(self) -> list[InSlot]:
        """The slot that holds frames and is not yet named, if there is one."""
        if not self._held:
            return []
        place = InSlot(self._file, self._slot, self._start(), self._held, *self._form)
        self._slot, self._held = -1, 0
        return [place]

    def drop(self, named: Sequence[InSlot] = ()) -> None:
        """Forget frames that are not yet named, and slots whose names nobody gets: their clip has failed."""
        for place in (*named, *self.flush()):
            self._memory[place.slot] = 0

    def _start(self) -> int:
        return HEAD_BYTES + self._slot * self.slot_bytes

    def _store(self, frame: Raw) -> None:
        at = self._start() + self._held * frame.nbytes
        for part in frame.planes if isinstance(frame, YuvPlanes) else (frame,):
            self._memory[at : at + part.nbytes].reshape(part.shape)[:] = part
            at += part.nbytes

    def _free_slot(self) -> int:
        """The first slot that is free: the first few are the quickest for the reader."""
        while True:
            free = np.flatnonzero(self._memory[: self._slots] == 0)
            if len(free):
                self._memory[free[0]] = 1
                return int(free[0])
            time.sleep(_POLL_S)


class SlotReader:
    """The slots of any number of processes, in the one that reads them."""

    def __init__(self) -> None:
        self._memory: dict[str, NDArray[np.uint8]] = {}

    def memory(self, place: InSlot) -> NDArray[np.uint8]:
        """The whole memory that a slot is in, mapped at the first call."""
        if place.file not in self._memory:
            with open(place.file, "r+b") as file:
                self._memory[place.file] = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8)
        return self._memory[place.file]

    def frames(self, place: InSlot) -> NDArray[np.uint8]:
        """The bytes (n, bytes of a frame) of the frames in a slot, where they lie; only until `free`."""
        memory = self.memory(place)[place.start : place.start + place.nbytes]
        return memory.reshape(place.count, place.frame_bytes)

    def free(self, place: InSlot, *, keep: bool = True) -> None:
        """Let the process fill the slot anew; unless it is to be kept, its memory goes back to the system."""
        memory = self.memory(place)
        if not keep:
            _give_back(memory[place.start : place.start + place.nbytes])
        memory[place.slot] = 0


def slots_each(processes: int) -> int:
    """Slots for each of so many decoding processes: more where memory is free, to decode before the network is ready.

    >>> slots_each(10**6)
    8
    """
    room = available_memory() // SHARE_OF_MEMORY // (max(processes, 1) * SLOT_BYTES)
    return max(SLOTS, min(room, MOST_SLOTS))


def new_slots(slots: int = SLOTS, *, slot_bytes: int = SLOT_BYTES) -> SlotWriter | None:
    """Slots for this process to fill; None on a system that has no such memory."""
    descriptor = memory_file("rushes-frames", HEAD_BYTES + slots * slot_bytes)
    return None if descriptor is None else SlotWriter(descriptor, slots=slots, slot_bytes=slot_bytes)


slot_writer = lru_cache(maxsize=1)(new_slots)
"""This process's slots, made at the first call."""


def _give_back(memory: NDArray[np.uint8]) -> None:
    """Let the system have the whole pages of shared memory again: they read as zeros afterwards. Linux."""
    page = os.sysconf("SC_PAGE_SIZE")
    start = -(-memory.ctypes.data // page) * page
    length = (memory.ctypes.data + memory.nbytes - start) // page * page
    if length > 0:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _MADV_REMOVE)
