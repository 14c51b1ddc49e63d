"""Raw frames from the decoding processes to prepared windows on the device, clip by clip as they come.

A slot is copied to the device from pinned memory and freed at once; everything after that (resizing, normalising,
cutting) happens there, while the decoding processes fill the next slots. Resizing is by tables of taps.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.instruments.distribution.clips.decoding import Decoders, Event, Window
from rushes.instruments.distribution.clips.frame_slots import InSlot, SlotReader
from rushes.instruments.distribution.clips.preparation import normalised
from rushes.instruments.distribution.clips.reading import Task
from rushes.instruments.distribution.clips.taps import AxisTaps, axis_tables
from rushes.instruments.distribution.protocols import Recipe


class DevicePreparation:
    """Frames (n, H, W, 3) uint8 on the device to (n, S, S, 3) float32, as the recipe's network takes them.

    Equal to the host's within `taps.TOLERANCE` before normalisation; the normalisation is the same arithmetic.
    """

    def __init__(self, recipe: Recipe, device: str) -> None:
        self._recipe, self.device = recipe, torch.device(device)
        self._tables: dict[tuple[int, int], tuple[_Gather, _Gather]] = {}

    @staticmethod
    def can_do(recipe: Recipe) -> bool:
        """Whether the recipe's resizer is a pair of tables."""
        return axis_tables(recipe.resize, 8, 8, recipe.size) is not None

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        height, width = self._tables_of(frames.shape[1], frames.shape[2])
        planes = frames.permute(0, 3, 1, 2)
        planes = width(planes)
        planes = height(planes.transpose(2, 3)).transpose(2, 3)
        return normalised(planes.permute(0, 2, 3, 1).contiguous(), self._recipe.normalise)

    def _tables_of(self, height: int, width: int) -> tuple[_Gather, _Gather]:
        if (height, width) not in self._tables:
            tables = axis_tables(self._recipe.resize, height, width, self._recipe.size)
            assert tables is not None
            rows, columns = tables
            self._tables[height, width] = _Gather(rows, height, self.device), _Gather(columns, width, self.device)
        return self._tables[height, width]


class _Gather:
    """One axis: the taps of every output side by side, times their weights, summed in double precision."""

    def __init__(self, taps: AxisTaps, size: int, device: torch.device) -> None:
        self._same = taps.weight.shape[0] == size and bool((taps.weight[:, 0] == 1).all())
        place = torch.from_numpy(taps.start)[:, None] + torch.arange(taps.weight.shape[1])
        self._place = place.clamp_(max=size - 1).flatten().to(device)
        self._weight = torch.from_numpy(taps.weight).to(device)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(…, size) of any kind to (…, out) float32."""
        if self._same:
            return x.float()
        taken = x.index_select(-1, self._place).view(*x.shape[:-1], *self._weight.shape)
        return torch.sum(taken * self._weight, dim=-1).float()


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
