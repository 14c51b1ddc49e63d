"""Raw frames from the decoding processes to prepared windows on the device, clip by clip as they come.

A slot is copied to the device from pinned memory and freed at once; everything after that (resizing, normalising,
cutting) happens there, while the decoding processes fill the next slots.

Resizers are tables of taps there, one per axis. Output i of an axis is Σ_k weight[i, k] · input[start[i] + k], summed
in double precision and rounded to float32, the width first and then the height, as PIL does it. PIL's bicubic comes out
bit for bit (a Pillow that takes the height of a tall picture first rounds the last bit otherwise), torch's bilinear
within one float32 rounding per axis.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.instruments.distribution.clips.decoding import Decoders, Event, Window
from rushes.instruments.distribution.clips.frame_slots import InSlot, SlotReader
from rushes.instruments.distribution.clips.preparation import Resizer, legacy_places, short_side
from rushes.instruments.distribution.clips.reading import Task
from rushes.instruments.distribution.protocols import Recipe
from rushes.vision.normalise import normalised

TOLERANCE = 1e-4
"""How far a resized value may be from the host's, on the 0–255 scale."""


@dataclass(frozen=True, slots=True)
class AxisTaps:
    """One axis of a resizer: `start` (out,) and `weight` (out, taps); past the border the last pixel stands in."""

    start: NDArray[np.int64]
    weight: NDArray[np.float64]

    def part(self, first: int, count: int) -> AxisTaps:
        """The table of a crop."""
        return AxisTaps(self.start[first : first + count], self.weight[first : first + count])


def axis_tables(resizer: Resizer, height: int, width: int, size: int) -> tuple[AxisTaps, AxisTaps] | None:
    """The tables of height and width for frames of one size; None for a resizer that is no such pair of tables.

    `bilinear-aa256up-uint8` is none: it cuts to whole numbers half-way, and there the last bit of a sum decides.
    """
    whole = {
        "pil-bicubic-squash": _bicubic,
        "bilinear-squash": _bilinear,
        "tf1-bilinear-squash": _legacy_bilinear,
    }
    if (table := whole.get(resizer)) is not None:
        return table(height, size), table(width, size)
    if resizer == "bilinear-short-crop":
        tall, wide = short_side(height, width, size)
        rows, columns = _bilinear(height, tall), _bilinear(width, wide)
        return rows.part((tall - size) // 2, size), columns.part((wide - size) // 2, size)
    return None


def _bicubic(size: int, out: int) -> AxisTaps:
    """PIL's: support 2·max(scale, 1) around (i + ½)·scale, a = −½, weights made to add up to 1."""
    scale = size / out
    stretch = max(scale, 1.0)
    centre = (np.arange(out) + 0.5) * scale
    start = np.maximum((centre - 2 * stretch + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + 2 * stretch + 0.5).astype(np.int64), size)
    place = start[:, None] + np.arange(int((end - start).max()))
    weight = np.where(place < end[:, None], _cubic((place - centre[:, None] + 0.5) * (1.0 / stretch)), 0.0)
    total = np.cumsum(weight, axis=1)[:, -1:]  # one after the other, as PIL adds them
    return AxisTaps(start, weight / total)


def _cubic(x: NDArray[np.float64], a: float = -0.5) -> NDArray[np.float64]:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _bilinear(size: int, out: int) -> AxisTaps:
    """The two neighbours of (i + ½)·scale − ½, clamped at the border; torch rounds the place once, to float32."""
    exact = (np.arange(out) + 0.5) * np.float64(np.float32(size / out)) - 0.5
    place = np.maximum(exact.astype(np.float32), np.float32(0))
    start = np.minimum(place.astype(np.int64), size - 1)
    far = place - start.astype(np.float32)
    far[start == size - 1] = 0.0
    return AxisTaps(start, _shares(far))


def _legacy_bilinear(size: int, out: int) -> AxisTaps:
    """The two neighbours of i·scale: TensorFlow 1, without half-pixel centres."""
    lower, _, far = legacy_places(size, out)
    return AxisTaps(lower.astype(np.int64), _shares(far))


def _shares(far: NDArray[np.float32]) -> NDArray[np.float64]:
    """Weights of the near and the far neighbour."""
    return np.stack([1 - far.astype(np.float64), far.astype(np.float64)], axis=1)


class DevicePreparation:
    """Frames (n, H, W, 3) uint8 on the device to (n, S, S, 3) float32, as the recipe's network takes them.

    Equal to the host's within `TOLERANCE` before normalisation; the normalisation is the same arithmetic.
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
