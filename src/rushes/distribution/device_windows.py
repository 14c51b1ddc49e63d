"""Raw frames from the decoding processes to prepared windows on the device, clip by clip as they come.

A slot is copied to the device from pinned memory and freed at once; everything after that (resizing, normalising,
cutting) happens there, while the decoding processes fill the next slots.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.distribution.clip_reading import Task
from rushes.distribution.decoding import Decoders, Event, Window
from rushes.distribution.device_preparation import DevicePreparation
from rushes.distribution.frame_slots import InSlot, SlotReader


class DeviceWindows:
    """Reads clips for a network on a device; pinned memory is kept from set to set."""

    def __init__(self, decoders: Decoders) -> None:
        self._decoders, self._slots = decoders, SlotReader()
        self._pinned: set[int] = set()
        self._stream: torch.cuda.Stream | None = None

    def read(self, tasks: Sequence[Task], preparation: DevicePreparation) -> Iterator[Event]:
        """The events of `Decoders.read`, with each window as one "segment" whose payload is a tensor (T, S, S, 3)."""
        in_slots = self._decoders.workers > 0
        held: dict[int, _Frames] = {}
        for event in self._decoders.read([replace(task, raw=True, in_slots=in_slots) for task in tasks]):
            if event.kind == "frames":
                held.setdefault(event.clip, _Frames()).add(preparation(self._upload(event, preparation.device)))
            elif isinstance(event.payload, Window):
                yield replace(event, kind="segment", payload=held[event.clip].window(event.payload))
            else:
                held.pop(event.clip, None)
                yield event

    def close(self) -> None:
        """Unpin."""
        for place in self._pinned:
            torch.cuda.cudart().cudaHostUnregister(place)
        self._pinned.clear()

    def _upload(self, event: Event, device: torch.device) -> torch.Tensor:
        """The frames of an event on the device; their slot is free again."""
        place = event.payload
        if not isinstance(place, InSlot):
            assert isinstance(place, np.ndarray)
            return self._copied(place.view(np.uint8), device)
        if device.type == "cuda":
            self._pin(self._slots.memory(place))
        frames = self._copied(self._slots.frames(place), device)
        self._slots.free(place)
        return frames

    def _pin(self, memory: NDArray[np.uint8]) -> None:
        start = memory.ctypes.data
        if start not in self._pinned:
            self._pinned.add(start)
            # a refusal (locked memory is limited) leaves plain copies, which are slower and as right
            torch.cuda.cudart().cudaHostRegister(start, memory.nbytes, 0)

    def _copied(self, frames: NDArray[np.uint8], device: torch.device) -> torch.Tensor:
        if device.type != "cuda":
            return torch.from_numpy(frames.copy())
        if self._stream is None:
            self._stream = torch.cuda.Stream()
        with torch.cuda.stream(self._stream):
            there = torch.from_numpy(frames).to(device, non_blocking=True)
        self._stream.synchronize()  # the next frames must not be written over these before they are there
        there.record_stream(torch.cuda.current_stream())
        return there


class _Frames:
    """The prepared frames of one clip that a window may still want."""

    def __init__(self) -> None:
        self._parts: list[torch.Tensor] = []
        self._first = 0

    def add(self, frames: torch.Tensor) -> None:
        self._parts.append(frames)

    def window(self, window: Window) -> torch.Tensor:
        whole = self._parts[0] if len(self._parts) == 1 else torch.cat(self._parts)
        first, last = window.frames[0] - self._first, window.frames[-1] - self._first
        if last - first + 1 == len(window.frames):
            taken = whole[first : last + 1]
        else:
            taken = whole[torch.tensor([number - self._first for number in window.frames], device=whole.device)]
        gone = min(window.keep_from - self._first, len(whole))
        self._parts, self._first = [whole[gone:]] if gone < len(whole) else [], self._first + gone
        return taken
