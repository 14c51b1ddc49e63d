"""Raw frames from the decoding processes to prepared windows on the device, clip by clip as they come.

A slot is copied to the device from pinned memory and freed at once; everything after that (resizing, normalising,
cutting) happens there, while the decoding processes fill the next slots.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.distribution.clip_reading import Task
from rushes.distribution.decoding import Event, Window, read_clips
from rushes.distribution.device_preparation import DevicePreparation
from rushes.distribution.frame_slots import FrameSlots, InSlot


def device_windows(tasks: Sequence[Task], preparation: DevicePreparation, *, workers: int) -> Iterator[Event]:
    """The events of `read_clips`, with each window as one "segment" whose payload is a tensor (T, S, S, 3)."""
    raw = [replace(task, raw=True) for task in tasks]
    lanes = min(workers, len(tasks))
    slots = FrameSlots(lanes) if lanes > 0 and FrameSlots.available() else None
    held: dict[int, _Frames] = {}
    try:
        with _Uploads(preparation.device, slots) as upload:
            for event in read_clips(raw, workers=lanes, slots=slots):
                frames = held.setdefault(event.clip, _Frames())
                if event.kind == "frames":
                    frames.add(preparation(upload(event)))
                elif isinstance(event.payload, Window):
                    yield replace(event, kind="segment", payload=frames.window(event.payload))
                else:
                    del held[event.clip]
                    yield event
    finally:
        if slots is not None:
            slots.close()


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


class _Uploads:
    """Copies frames to the device; slots are pinned for it as long as it lasts."""

    def __init__(self, device: torch.device, slots: FrameSlots | None) -> None:
        self._device, self._slots = device, slots
        self._stream = torch.cuda.Stream() if device.type == "cuda" else None
        self._pinned = 0

    def __enter__(self) -> _Uploads:
        if self._stream is not None and self._slots is not None:
            memory = self._slots.memory
            # a refusal (locked memory is limited) leaves plain copies, which are slower and as right
            if int(torch.cuda.cudart().cudaHostRegister(memory.ctypes.data, memory.nbytes, 0)) == 0:
                self._pinned = memory.ctypes.data
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pinned:
            torch.cuda.cudart().cudaHostUnregister(self._pinned)

    def __call__(self, event: Event) -> torch.Tensor:
        """The frames of an event on the device; their slot is free again."""
        place = event.payload
        if not isinstance(place, InSlot):
            assert isinstance(place, np.ndarray)
            return self._copied(place.view(np.uint8))
        assert self._slots is not None
        frames = self._copied(self._slots.frames(event.lane, place))
        self._slots.free(event.lane, place)
        return frames

    def _copied(self, frames: NDArray[np.uint8]) -> torch.Tensor:
        if self._stream is None:
            return torch.from_numpy(frames.copy())
        current = torch.cuda.current_stream()
        with torch.cuda.stream(self._stream):
            there = torch.from_numpy(frames).to(self._device, non_blocking=True)
        self._stream.synchronize()  # the next frames must not be written over these before they are there
        there.record_stream(current)
        return there
