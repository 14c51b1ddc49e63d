"""Raw frames from the decoding processes to windows on the device, clip by clip as they come.

A few threads copy what waits through pinned memory of their own. Pinning a process's memory takes as long as copying
it, so that is done once it has proved worth it: then the device copies the first slots in its own time and marks each
free after the copy, and nobody waits for that. Later slots are those filled while the network was not ready; their
memory goes back to the system. Converting, resizing and normalising happen on the device too, batch by batch, while
the decoding processes fill the next slots.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import local
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.instruments.distribution.clips.decoding import Decoders, Event, Window
from rushes.instruments.distribution.clips.device_preparation import RawFrames, RawWindow
from rushes.instruments.distribution.clips.frame_slots import HEAD_BYTES, SLOT_BYTES, SLOTS, InSlot, SlotReader
from rushes.instruments.distribution.clips.reading import Task

_THREADS = 8
"""That copy what waits in slots that are not pinned; one moves 1 to 3 GB/s, and the network takes some 20."""
_WORTH_PINNING = 48
"""Slots of one process after which its first ones are pinned."""


class DeviceWindows:
    """Reads clips for a network on a device; pinned memory is kept from set to set."""

    def __init__(self, decoders: Decoders, device: torch.device) -> None:
        self._decoders = decoders
        self._upload: _ToHost | _ToGpu = _ToGpu(device) if device.type == "cuda" else _ToHost()

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """The events of `Decoders.read`, with each window as one "segment" whose payload is a `RawWindow`."""
        held: dict[int, _Frames] = {}
        for event in self._decoders.read(self._decoders.as_raw(tasks)):
            if event.kind == "frames":
                assert isinstance(event.payload, np.ndarray | InSlot)
                held.setdefault(event.clip, _Frames()).add(self._upload(event.payload))
            elif isinstance(event.payload, Window):
                window = held[event.clip].window(event.payload, tasks[event.clip].recipe.size)
                yield replace(event, kind="segment", payload=window)
            else:
                held.pop(event.clip, None)
                yield event

    def close(self) -> None:
        """Let go of threads and pinned memory."""
        self._upload.close()


class _ToHost:
    """Frames as tensors of the host."""

    def __init__(self) -> None:
        self._slots = SlotReader()

    def __call__(self, payload: NDArray[Any] | InSlot) -> RawFrames:
        if isinstance(payload, np.ndarray):
            return _as_sent(payload, torch.device("cpu"))
        values = torch.from_numpy(self._slots.frames(payload).copy())
        self._slots.free(payload)
        return RawFrames(payload.count, payload.height, payload.width, payload.factors, lambda: values)

    def close(self) -> None:
        pass


class _ToGpu(ExitStack):
    """Frames on their way to a GPU."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device, self._slots = device, SlotReader()
        self._stream = torch.cuda.Stream(device)
        self._zero = torch.zeros(1, dtype=torch.uint8, device=device)
        self._heard: Counter[str] = Counter()
        self._pinned: dict[str, int] = {}
        self._own = local()
        self.callback(self._unpin)
        self._threads = self.enter_context(ThreadPoolExecutor(_THREADS, thread_name_prefix="rushes-upload"))

    def __call__(self, payload: NDArray[Any] | InSlot) -> RawFrames:
        """The frames on the device, or soon there; their slot is free again, now or after the copy."""
        if isinstance(payload, np.ndarray):
            return _as_sent(payload, self._device, self._stream)
        self._slots.memory(payload)  # mapped once, here, before threads ask for it
        form = payload.count, payload.height, payload.width, payload.factors
        if payload.slot < SLOTS and payload.file in self._pinned:
            values = self._copied(payload)
            return RawFrames(*form, lambda: values, self._stream)
        later = self._threads.submit(self._staged, payload)
        self._heard[payload.file] += 1
        if self._heard[payload.file] == _WORTH_PINNING:
            self._threads.submit(self._pin, payload)
        return RawFrames(*form, later.result)

    def _copied(self, place: InSlot) -> torch.Tensor:
        memory = self._slots.memory(place)
        with torch.cuda.stream(self._stream):
            there = torch.from_numpy(self._slots.frames(place)).to(self._device, non_blocking=True)
            # the device itself marks the slot free, after the copy before it
            torch.from_numpy(memory[place.slot : place.slot + 1]).copy_(self._zero, non_blocking=True)
        return there

    def _staged(self, place: InSlot) -> torch.Tensor:
        """Copy a slot through this thread's pinned memory, and wait until it is there."""
        own = self._own
        if not hasattr(own, "memory"):
            own.memory = torch.empty(SLOT_BYTES, dtype=torch.uint8, pin_memory=True)
            own.stream = torch.cuda.Stream(self._device)
        frames = self._slots.frames(place)
        staged = own.memory[: frames.nbytes].view(frames.shape)
        np.copyto(staged.numpy(), frames)
        self._slots.free(place, keep=place.slot < SLOTS)
        with torch.cuda.stream(own.stream):
            there: torch.Tensor = staged.to(self._device, non_blocking=True)
        own.stream.synchronize()
        return there

    def _pin(self, place: InSlot) -> None:
        """Pin the head and the first slots of a process. Where that is refused (locked memory is limited), so be it."""
        memory = self._slots.memory(place)
        start, size = memory.ctypes.data, min(memory.nbytes, HEAD_BYTES + SLOTS * SLOT_BYTES)
        if int(torch.cuda.cudart().cudaHostRegister(start, size, 0)) == 0:
            self._pinned[place.file] = start

    def _unpin(self) -> None:
        self._stream.synchronize()
        for start in self._pinned.values():
            torch.cuda.cudart().cudaHostUnregister(start)


def _as_sent(frames: NDArray[Any], device: torch.device, stream: torch.cuda.Stream | None = None) -> RawFrames:
    """RGB frames (n, H, W, 3) that came in a message."""
    count, height, width = frames.shape[:3]
    with torch.cuda.stream(stream):  # none: nothing changes
        values = torch.from_numpy(frames.reshape(count, -1)).to(device)
    return RawFrames(count, height, width, None, lambda: values, stream)


class _Frames:
    """The raw frames of one clip that a window may still want."""

    def __init__(self) -> None:
        self._parts: list[RawFrames] = []
        self._first = 0

    def add(self, frames: RawFrames) -> None:
        self._parts.append(frames)

    def window(self, window: Window, size: int) -> RawWindow:
        """The window; parts that no later one wants are let go."""
        places: dict[int, tuple[RawFrames, int]] = {}
        first = self._first
        for part in self._parts:
            places |= {first + number: (part, number) for number in range(part.count)}
            first += part.count
        taken = RawWindow(tuple(places[number] for number in window.frames), size)
        while self._parts and self._first + self._parts[0].count <= window.keep_from:
            self._first += self._parts.pop(0).count
        return taken
