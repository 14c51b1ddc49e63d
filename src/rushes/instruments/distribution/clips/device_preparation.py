"""Raw frames on a device to what the network takes there: RGB, resized, normalised, a whole batch at a time.

Triton's kernels make RGB of planes and resize where Triton is to be had; elsewhere plain torch does the same sums.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from rushes.instruments.distribution.clips.raw_frames import RawFrames, RawWindow
from rushes.instruments.distribution.clips.resize_tables import AxisTaps, axis_tables
from rushes.instruments.distribution.networks.planes import planes_to_rgb
from rushes.instruments.distribution.networks.taps import apply_taps
from rushes.instruments.distribution.protocols import Recipe
from rushes.media.yuv import YuvFactors
from rushes.vision.normalise import normalised

TOLERANCE = 1e-4
"""How far a resized value may be from the host's, on the 0–255 scale."""
_AT_ONCE = 128 << 20
"""Pixels that are converted together, which bounds the memory that it takes."""


def to_rgb(values: torch.Tensor, form: tuple[int, int, YuvFactors | None]) -> torch.Tensor:
    """Frames (n, bytes) of one form as RGB (n, H, W, 3)."""
    height, width, factors = form
    return values.view(-1, height, width, 3) if factors is None else planes_to_rgb(values, height, width, factors)


class DevicePreparation:
    """Frames on the device to (n, S, S, 3) float32, as the recipe's network takes them.

    Equal to the host's within `TOLERANCE` before normalisation; the normalisation is the same arithmetic.
    """

    def __init__(self, recipe: Recipe, device: str) -> None:
        self.recipe, self.device = recipe, torch.device(device)
        self._tables: dict[tuple[int, int], tuple[_Axis, _Axis]] = {}

    @staticmethod
    def can_do(recipe: Recipe) -> bool:
        """Whether the recipe's resizer is a pair of tables."""
        return axis_tables(recipe.resize, 8, 8, recipe.size) is not None

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        """RGB (n, H, W, 3) uint8 to (n, S, S, 3)."""
        height, width = self._tables_of(frames.shape[1], frames.shape[2])
        count, rows = frames.shape[:2]
        size = self.recipe.size
        narrow = width(frames.reshape(count * rows, -1, 3)).view(count, rows, size * 3)
        return normalised(height(narrow).view(count, size, size, 3), self.recipe.normalise)

    def batch(self, windows: Sequence[RawWindow], out: torch.Tensor | None = None) -> torch.Tensor:
        """Windows of one shape, prepared: (N, T, S, S, 3). A frame that several windows have is prepared once."""
        wanted: dict[tuple[int, int], int] = {}
        prepared: list[torch.Tensor] = []
        used = {(id(piece), number) for window in windows for piece, number in window.frames}
        for group in _alike(piece for window in windows for piece, _ in window.frames):
            first, numbers = 0, []
            for piece in group:
                kept = [number for number in range(piece.count) if (id(piece), number) in used]
                wanted |= {(id(piece), number): len(wanted) + n for n, number in enumerate(kept)}
                numbers += [first + number for number in kept]
                first += piece.count
            values = _joined(group)
            if len(numbers) < first:
                values = values.index_select(0, _index(numbers, values.device))
            prepared += self._prepared(values, group[0].form)
        every = prepared[0] if len(prepared) == 1 else torch.cat(prepared)
        places = [wanted[id(piece), number] for window in windows for piece, number in window.frames]
        if places != list(range(len(every))):
            every = every.index_select(0, _index(places, every.device))
        taken = every.view(len(windows), *windows[0].shape)
        return taken if out is None else out.copy_(taken)

    def _prepared(self, values: torch.Tensor, form: tuple[int, int, YuvFactors | None]) -> list[torch.Tensor]:
        step = max(_AT_ONCE // (form[0] * form[1]), 1)
        return [self(to_rgb(some, form)) for some in values.split(step)]

    def _tables_of(self, height: int, width: int) -> tuple[_Axis, _Axis]:
        if (height, width) not in self._tables:
            tables = axis_tables(self.recipe.resize, height, width, self.recipe.size)
            assert tables is not None
            rows, columns = tables
            self._tables[height, width] = _Axis(rows, height, self.device), _Axis(columns, width, self.device)
        return self._tables[height, width]


def fill(inputs: torch.Tensor, windows: Sequence[Any], preparation: DevicePreparation | None) -> None:
    """Write windows into a network's inputs: raw ones prepared there, tensors, or arrays of the host."""
    if isinstance(windows[0], RawWindow):
        assert preparation is not None
        preparation.batch(windows, out=inputs)
    elif isinstance(windows[0], torch.Tensor):
        torch.stack(list(windows), out=inputs)
    else:
        inputs.copy_(torch.from_numpy(np.stack(windows)))


class _Axis:
    """One axis of a resizer on the device."""

    def __init__(self, taps: AxisTaps, size: int, device: torch.device) -> None:
        self._same = taps.weight.shape[0] == size and bool((taps.weight[:, 0] == 1).all())
        self._start = torch.from_numpy(taps.start).to(device, torch.int32)
        self._weight = torch.from_numpy(taps.weight).to(device)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(n, size, inner) of any kind to (n, out, inner) float32."""
        return x.float() if self._same else apply_taps(x, self._start, self._weight)


def _alike(pieces: Iterable[RawFrames]) -> list[list[RawFrames]]:
    """Pieces of one size and form together, each once, in the order they came."""
    groups: dict[object, dict[int, RawFrames]] = {}
    for piece in pieces:
        groups.setdefault(piece.form, {})[id(piece)] = piece
    return [list(group.values()) for group in groups.values()]


def _index(numbers: Sequence[int], device: torch.device) -> torch.Tensor:
    """Places on a device; nothing waits for the device."""
    found = torch.tensor(numbers)
    return found.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else found


def _joined(group: Sequence[RawFrames]) -> torch.Tensor:
    """The frames of several pieces, one after the other, once each is there."""
    values = [piece.values() for piece in group]
    for stream in {piece.stream for piece in group if piece.stream is not None}:
        torch.cuda.current_stream().wait_stream(torch.cuda.ExternalStream(stream))
    return values[0] if len(values) == 1 else torch.cat(values)
