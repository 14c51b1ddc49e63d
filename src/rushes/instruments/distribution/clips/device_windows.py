"""Raw frames from the decoding processes to windows on the device, clip by clip as they come.

A thread hears the processes and fetches their frames, also while torch is loaded and the network is not ready yet: the
device has room for many. Converting, resizing and normalising happen on the device too, batch by batch, while the
processes fill the next slots. Needs no torch until the frames' values are asked for.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from queue import SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core.machine.cuda_driver import CudaDriver
from rushes.core.machine.memory import available_memory
from rushes.instruments.distribution.clips.decoding import Decoders, Event, Window
from rushes.instruments.distribution.clips.frame_slots import InSlot, SlotReader
from rushes.instruments.distribution.clips.gpu_frames import GpuFrames
from rushes.instruments.distribution.clips.raw_frames import RawFrames, RawWindow
from rushes.instruments.distribution.clips.reading import Task

if TYPE_CHECKING:
    import torch

_SHARE_OF_DEVICE = 4
"""Frames that wait for the network take at most this part of the device's free memory."""

_Fetched: TypeAlias = "SimpleQueue[tuple[int, Event] | Exception | None]"
"""Events with the bytes of frames that are on the device for them."""


class DeviceWindows:
    """Reads clips for a network on a device ("cpu" or "cuda"); pinned memory is kept from set to set.

    `room` is how many bytes of frames may wait there; by default a quarter of what is free.
    """

    def __init__(self, decoders: Decoders, device: str, *, room: int | None = None) -> None:
        self._decoders, self._device = decoders, device
        self._gpu = _current_gpu() if device == "cuda" else 0
        self._room = _Room(room)
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

    def _serve(self) -> None:
        """The frames' memory goes with this thread."""
        with closing(self._upload()) as upload:
            while (wanted := self._wanted.get()) is not None:
                self._fetch(upload, *wanted)

    def _upload(self) -> _ToHost | GpuFrames:
        """What takes frames to the device; by way of the host where the GPU has no such driver, or has no room."""
        if self._device == "cuda":
            with suppress(OSError, MemoryError):
                return GpuFrames(CudaDriver(self._gpu))
        return _ToHost(self._device)

    def _fetch(self, upload: _ToHost | GpuFrames, tasks: Sequence[Task], fetched: _Fetched) -> None:
        try:
            self._room.allow(upload.free_memory() // _SHARE_OF_DEVICE)
            for size, event in self._events(upload, tasks):
                self._room.take(size)
                fetched.put((size, event))
                if self._room.is_over:
                    break
            fetched.put(None)
        except Exception as error:  # raised again where the windows are read
            fetched.put(error)

    def _events(self, upload: _ToHost | GpuFrames, tasks: Sequence[Task]) -> Iterator[tuple[int, Event]]:
        """Events, each with the bytes that came for it and those before it."""
        held: dict[int, _Frames] = {}
        size = 0
        for event in self._decoders.read(self._decoders.as_raw(tasks)):
            if event.kind == "frames":
                assert isinstance(event.payload, np.ndarray | InSlot)
                size += event.payload.nbytes
                held.setdefault(event.clip, _Frames()).add(upload(event.payload))
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

    def __init__(self, most: int | None) -> None:
        self._most, self._held, self.is_over = most, 0, False
        self._change = Condition()

    def allow(self, most: int) -> None:
        """Room for so many, unless that was said before."""
        self._most = most if self._most is None else self._most

    def take(self, size: int) -> None:
        """Room for so many bytes; for any number where nothing waits."""
        with self._change:
            self._change.wait_for(lambda: self.is_over or not self._held or self._held + size <= (self._most or 0))
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


def _current_gpu() -> int:
    """The GPU that torch uses: the first one, unless torch is loaded and was told otherwise."""
    torch = sys.modules.get("torch")
    return torch.cuda.current_device() if torch is not None and torch.cuda.is_available() else 0


class _ToHost:
    """Frames in the host's memory, from where torch moves them when they are wanted."""

    def __init__(self, device: str) -> None:
        self._device, self._slots = device, SlotReader()

    @staticmethod
    def free_memory() -> int:
        return available_memory()

    def __call__(self, payload: NDArray[Any] | InSlot) -> RawFrames:
        if isinstance(payload, np.ndarray):
            count, height, width = payload.shape[:3]
            return RawFrames(count, height, width, None, self._later(payload.reshape(count, -1)))
        values = self._slots.frames(payload).copy()
        self._slots.free(payload)
        return RawFrames(payload.count, payload.height, payload.width, payload.factors, self._later(values))

    def _later(self, values: NDArray[Any]) -> Callable[[], torch.Tensor]:
        def moved() -> torch.Tensor:
            import torch

            return torch.from_numpy(values).to(self._device)

        return moved

    def close(self) -> None:
        pass


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
