"""What `preparation` does on the host, on the device: raw frames resized by tables of taps, then normalised."""

from __future__ import annotations

import torch

from rushes.distribution.preparation import normalised
from rushes.distribution.protocols import Recipe
from rushes.distribution.taps import AxisTaps, axis_tables


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
