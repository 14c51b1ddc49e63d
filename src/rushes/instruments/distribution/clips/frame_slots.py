"""Memory that a decoding process fills and another reads: raw frames cross over without being copied or pickled.

A decoding process has a few slots of one size in an anonymous file of its own. It waits until a slot is free, writes
frames into it and names it in a message; whoever has read it frees it. Where a system has no such files, and for a
frame larger than a slot, frames travel in the message. The memory goes when both processes have let go of it.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.platforms import memory_file
from rushes.media.find.sequences import Pixels

SLOT_BYTES = 16 << 20
"""21 frames of 512×512, or 2 of 1920×1080."""
SLOTS = 3
"""One being read, one waiting, one being filled."""
_HEAD_BYTES = 4096
"""Before the slots: one byte for each, 1 from when it is begun until it is read."""
_POLL_S = 0.0005


@dataclass(frozen=True, slots=True)
class InSlot:
    """Frames (n, H, W, 3) in a slot, as a message names them."""

    file: str
    """How another process of this user opens the memory."""
    slot: int
    start: int
    """Where in the memory the frames begin."""
    shape: tuple[int, int, int, int]


class SlotWriter:
    """The slots, in the process that fills them."""

    def __init__(self, descriptor: int, *, slots: int, slot_bytes: int) -> None:
        self._slots, self.slot_bytes = slots, slot_bytes
        self._memory = np.frombuffer(mmap.mmap(descriptor, 0), np.uint8)
        self._file = f"/proc/{os.getpid()}/fd/{descriptor}"  # open as long as this process lives
        self._slot, self._held = -1, 0
        self._shape: tuple[int, int, int] = (0, 0, 0)

    def put(self, frame: Pixels) -> InSlot | Pixels | None:
        """Store a frame: the slot to name once it is full, or the frame itself where none can hold it."""
        if frame.nbytes > self.slot_bytes:
            return frame[None]
        if self._slot < 0:
            self._slot, self._shape = self._free_slot(), (frame.shape[0], frame.shape[1], frame.shape[2])
        self._held += 1
        _frames(self._memory, self._place())[-1] = frame
        return self.flush() if (self._held + 1) * frame.nbytes > self.slot_bytes else None

    def flush(self) -> InSlot | None:
        """The slot that holds frames and is not yet named."""
        if not self._held:
            return None
        place = self._place()
        self._slot, self._held = -1, 0
        return place

    def drop(self) -> None:
        """Forget frames that are not yet named: their clip has failed."""
        if (place := self.flush()) is not None:
            self._memory[place.slot] = 0

    def _place(self) -> InSlot:
        start = _HEAD_BYTES + self._slot * self.slot_bytes
        return InSlot(self._file, self._slot, start, (self._held, *self._shape))

    def _free_slot(self) -> int:
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

    def frames(self, place: InSlot) -> Pixels:
        """The frames in a slot, where they lie; only until `free`."""
        return _frames(self.memory(place), place)

    def free(self, place: InSlot) -> None:
        """Let the process fill the slot anew."""
        self.memory(place)[place.slot] = 0


def _frames(memory: NDArray[np.uint8], place: InSlot) -> Pixels:
    return memory[place.start :][: math.prod(place.shape)].reshape(place.shape)


def new_slots(*, slots: int = SLOTS, slot_bytes: int = SLOT_BYTES) -> SlotWriter | None:
    """Slots for this process to fill; None on a system that has no such memory."""
    descriptor = memory_file("rushes-frames", _HEAD_BYTES + slots * slot_bytes)
    return None if descriptor is None else SlotWriter(descriptor, slots=slots, slot_bytes=slot_bytes)


slot_writer = lru_cache(maxsize=1)(new_slots)
"""This process's slots, made at the first call."""
