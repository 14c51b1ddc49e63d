"""Raw frames from the decoding processes to windows on the device, clip by clip as they come.

A thread hears the processes and fetches their frames, also while the network is not ready yet: the device has room for
many, and a process that fills memory nobody has touched before decodes a fifth slower. A few more threads copy what
waits through pinned memory of their own. Pinning a process's memory takes as long as copying it, so that is done once
it has proved worth it: then the device copies the first slots in its own time and marks each free after the copy, and
nobody waits for that. Later slots are those filled before there was a device; their memory goes back to the system.
Converting, resizing and normalising happen on the device too, batch by batch, while the processes fill the next slots.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from queue import SimpleQueue
from threading import Condition, Thread, local
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.core.machine.memory import available_memory
from rushes.instruments.distribution.clips.decoding import Decoders, Event, Window
from rushes.instruments.distribution.clips.device_preparation import RawFrames, RawWindow
from rushes.instruments.distribution.clips.frame_slots import HEAD_BYTES, SLOT_BYTES, SLOTS, InSlot, SlotReader
from rushes.instruments.distribution.clips.reading import Task

_THREADS = 8
"""That copy what waits in slots that are not pinned; one moves 1 to 3 GB/s, and the network takes some 20."""
_WORTH_PINNING = 8
"""Slots of one process after which its first ones are pinned."""
_SHARE_OF_DEVICE = 4
"""Frames that wait for the network take at most this part of the device's free memory."""

_Fetched: TypeAlias = "SimpleQueue[tuple[int, Event] | Exception | None]"
"""Events with the bytes of frames that are on the device for them."""


class DeviceWindows:
    """Reads clips for a network on a device; pinned memory is kept from set to set."""

    def __init__(self, decoders: Decoders, device: torch.device) -> None:
        self._decoders = decoders
        self._upload: _ToHost | _ToGpu = _ToGpu(device) if device.type == "cuda" else _ToHost()
        self._room = _Room(_free_memory(device) // _SHARE_OF_DEVICE)
        self._wanted: SimpleQueue[tuple[Sequence[Task], _Fetched] | None] = SimpleQueue()
        self._begun: deque[tuple[Sequence[Task], _Fetched]] = deque()
        self._thread: Thread | None = None

    def begin(self, tasks: Sequence[Task]) -> None:
        """Fetch the frames of these, after those begun before, until `read` asks for them in the same order."""
        if self._thread is None:
            self._thread = Thread(target=self._serve, name="rushes-fetch", daemon=True)
            self._thread.start()
        begun: tuple[Sequence[Task], _Fetched] = (tasks, SimpleQueue())
        self._begun.append(begun)
        self._wanted.put(begun)

    @property
    def is_ahead(self) -> bool:
        """Whether a set was begun that nobody has asked for."""
        return bool(self._begun)

    def can_read(self, tasks: Sequence[Task]) -> bool:
        """Whether these are next, or nothing was begun here or by the decoding processes."""
        return self._begun[0][0] == tasks if self._begun else self._decoders.can_read(self._decoders.as_raw(tasks))

    def read(self, tasks: Sequence[Task]) -> Iterator[Event]:
        """The events of `Decoders.read`, with each window as one "segment" whose payload is a `RawWindow`."""
        if not self._begun:
            self.begin(tasks)
        assert self._begun[0][0] == tasks, "another set was begun"
        _, fetched = self._begun.popleft()
        while (heard := fetched.get()) is not None:
            if isinstance(heard, Exception):
                raise heard
            size, event = heard
            self._room.give_back(size)
            yield event

    def close(self) -> None:
        """End the decoding processes; let go of threads and pinned memory."""
        self._room.close()
        self._decoders.close()
        self._wanted.put(None)
        if self._thread is not None:
            self._thread.join()
        self._upload.close()

    def _serve(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            self._fetch(*wanted)

    def _fetch(self, tasks: Sequence[Task], fetched: _Fetched) -> None:
        try:
            for size, event in self._events(tasks):
                self._room.take(size)
                fetched.put((size, event))
                if self._room.is_over:
                    break
            fetched.put(None)
        except Exception as error:  # raised again where the windows are read
            fetched.put(error)

    def _events(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Event]]:
        """Events, each with the bytes that came for it and those before it."""
        held: dict[int, _Frames] = {}
        size = 0
        for event in self._decoders.read(self._decoders.as_raw(tasks)):
            if event.kind == "frames":
                assert isinstance(event.payload, np.ndarray | InSlot)
                size += event.payload.nbytes
                held.setdefault(event.clip, _Frames()).add(self._upload(event.payload))
                continue
            if isinstance(event.payload, Window):
                window = held[event.clip].window(event.payload, tasks[event.clip].recipe.size)
                event = replace(event, kind="segment", payload=window)
            else:
                held.pop(event.clip, None)
            yield size, event
            size = 0


class _Room:
    """Bytes that may wait; whoever has more waits until others are taken away, or all is over."""

    def __init__(self, most: int) -> None:
        self._most, self._held, self.is_over = most, 0, False
        self._change = Condition()

    def take(self, size: int) -> None:
        """Room for so many bytes; for any number where nothing waits."""
        with self._change:
            self._change.wait_for(lambda: self.is_over or not self._held or self._held + size <= self._most)
            self._held += size

    def give_back(self, size: int) -> None:
        with self._change:
            self._held -= size
            self._change.notify()

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._change:
            self.is_over = True
            self._change.notify()


def _free_memory(device: torch.device) -> int:
    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else available_memory()


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
