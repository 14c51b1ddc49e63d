"""Memory that a decoding process fills and this one reads: raw frames cross over without being copied or pickled.

Each lane (one decoding process) has a few slots of one size. The process waits until a slot is free, writes frames
into it and says so in a message; whoever has read the slot frees it. The memory is an anonymous file that ends with
this process. Where a system has no such files, and for a frame larger than a slot, frames travel in the message.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.pictures import Pixels

SLOT_BYTES = 16 << 20
"""21 frames of 512×512, or 2 of 1920×1080."""
SLOTS = 3
"""One being read, one waiting, one being filled."""
_HEAD_BYTES = 4096
"""Before the slots: one byte for each, that says how it stands."""
_FREE, _TAKEN, _NAMED = 0, 1, 2
_POLL_S = 0.0005


@dataclass(frozen=True, slots=True)
class Lane:
    """Where a decoding process finds its slots."""

    path: str
    offset: int
    slots: int
    slot_bytes: int


@dataclass(frozen=True, slots=True)
class InSlot:
    """Frames (n, H, W, 3) in a slot, as a message names them."""

    slot: int
    shape: tuple[int, int, int, int]


class FrameSlots:
    """The memory of all lanes, in the process that reads it."""

    def __init__(self, lanes: int, *, slots: int = SLOTS, slot_bytes: int = SLOT_BYTES) -> None:
        self._lane_bytes = _HEAD_BYTES + slots * slot_bytes
        self._slots, self._slot_bytes = slots, slot_bytes
        self._file = os.memfd_create("rushes-frames", os.MFD_CLOEXEC)
        os.ftruncate(self._file, lanes * self._lane_bytes)
        self._map = mmap.mmap(self._file, lanes * self._lane_bytes)
        self.memory: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)

    @staticmethod
    def available() -> bool:
        """Whether this system has memory of this kind."""
        return hasattr(os, "memfd_create")

    def lane(self, number: int) -> Lane:
        """What the process of a lane is told."""
        return Lane(f"/proc/{os.getpid()}/fd/{self._file}", number * self._lane_bytes, self._slots, self._slot_bytes)

    def named(self, lane: int, place: InSlot) -> None:
        """Note that the lane's process has said what is in the slot."""
        self._lane(lane)[place.slot] = _NAMED

    def frames(self, lane: int, place: InSlot) -> Pixels:
        """The frames in a slot, where they lie; only until `free`."""
        return _frames(self._lane(lane), place, self._slot_bytes)

    def free(self, lane: int, place: InSlot) -> None:
        """Let the lane's process fill the slot anew."""
        self._lane(lane)[place.slot] = _FREE

    def recover(self, lane: int) -> None:
        """After a lane's process died: free the slots that it took and never named."""
        states = self._lane(lane)[: self._slots]
        states[states == _TAKEN] = _FREE

    def _lane(self, number: int) -> NDArray[np.uint8]:
        return self.memory[number * self._lane_bytes :][: self._lane_bytes]

    def close(self) -> None:
        """Let go of the memory; views of it must be gone."""
        del self.memory
        self._map.close()
        os.close(self._file)


class LaneWriter:
    """A lane in its decoding process."""

    def __init__(self, lane: Lane) -> None:
        self._lane, self._memory = lane, _attached(lane)
        self._slot, self._held = -1, 0
        self._shape: tuple[int, int, int] = (0, 0, 0)

    def put(self, frame: Pixels) -> InSlot | Pixels | None:
        """Store a frame; what is to be announced once its slot is full, or the frame itself where none can hold it."""
        if frame.nbytes > self._lane.slot_bytes:
            return frame[None]
        if self._slot < 0:
            self._slot, self._shape = self._free_slot(), (frame.shape[0], frame.shape[1], 3)
        self._held += 1
        here = InSlot(self._slot, (self._held, *self._shape))
        _frames(self._memory, here, self._lane.slot_bytes)[-1] = frame
        full = (self._held + 1) * frame.nbytes > self._lane.slot_bytes
        return self.flush() if full else None

    def flush(self) -> InSlot | None:
        """What is stored and not yet announced."""
        if not self._held:
            return None
        place = InSlot(self._slot, (self._held, *self._shape))
        self._slot, self._held = -1, 0
        return place

    def _free_slot(self) -> int:
        while True:
            free: Sequence[int] = np.flatnonzero(self._memory[: self._lane.slots] == _FREE)  # type: ignore[assignment]
            if len(free):
                self._memory[free[0]] = _TAKEN
                return int(free[0])
            time.sleep(_POLL_S)


def _frames(lane: NDArray[np.uint8], place: InSlot, slot_bytes: int) -> Pixels:
    start = _HEAD_BYTES + place.slot * slot_bytes
    count, height, width, channels = place.shape
    return lane[start : start + count * height * width * channels].reshape(place.shape)


@lru_cache(maxsize=1)
def _attached(lane: Lane) -> NDArray[np.uint8]:
    """The lane's memory, attached once per process."""
    size = _HEAD_BYTES + lane.slots * lane.slot_bytes
    with open(lane.path, "r+b") as file:
        whole = mmap.mmap(file.fileno(), lane.offset + size)
    return np.frombuffer(whole, np.uint8)[lane.offset :]
