"""Chooses, by measuring, how each convolution of the quick path runs: which tile, or the library plus our epilogue."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import torch

from rushes.instruments.distribution.networks.fast import NO_PADS, Pads, PlainOperations
from rushes.instruments.distribution.networks.folding import Folded
from rushes.instruments.distribution.networks.kernels import Tile, TritonOperations

TOLERANCE = 3e-3
"""Relative error against the plain form above which a candidate is refused."""


def milliseconds(work: Callable[[], object], *, warm: int = 2, repeats: int = 5) -> float:
    """Median time of one call on the GPU."""
    for _ in range(warm):
        work()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def candidates(columns: int, run: int, half: bool) -> list[Tile]:
    """Tiles worth trying for a layer with this many outputs and this long a run of input values."""
    depths = [16] if run <= 16 else [32] + ([64] if half and run >= 64 else [])
    widths = [32] if columns <= 32 else [64] if columns <= 64 else [64, 128]
    tiles = []
    for depth in depths:
        for wide in widths:
            if wide == 128:
                tiles += [Tile(128, 128, depth, 8, 3), Tile(128, 128, depth, 4, 3), Tile(256, 128, depth, 8, 3)]
            else:
                tiles += [Tile(128, wide, depth, 4, 4), Tile(256, wide, depth, 8, 3), Tile(64, wide, depth, 4, 4)]
    return tiles


class TuningOperations:
    """Stands in for the operations during one forward pass, and settles every layer the first time it comes by."""

    def __init__(self, ops: TritonOperations, *, seconds: float, say: Callable[[str], None]) -> None:
        self.ops, self.say = ops, say
        self.plain = PlainOperations()
        self.until = time.monotonic() + seconds
        self.seen: set[tuple[int, ...]] = set()

    def pool(self, *args: object, **options: object) -> torch.Tensor:
        return self.ops.pool(*args, **options)  # type: ignore[arg-type]

    def conv(
        self,
        x: torch.Tensor,
        layer: Folded,
        pads: Pads = NO_PADS,
        *,
        into: Sequence[torch.Tensor] = (),
        residual: torch.Tensor | None = None,
    ) -> torch.Tensor:
        key = self.ops.key(x, layer)
        if key not in self.seen:
            self.seen.add(key)
            self._settle(key, x, layer, pads, into, residual)
        return self.ops.conv(x, layer, pads, into=into, residual=residual)

    def _settle(
        self,
        key: tuple[int, ...],
        x: torch.Tensor,
        layer: Folded,
        pads: Pads,
        into: Sequence[torch.Tensor],
        residual: torch.Tensor | None,
    ) -> None:
        flops = 2 * layer.weight[0].numel()
        run = x.shape[4] * (layer.kernel[2] if pads == NO_PADS else 1)
        reference = self.plain.conv(x, layer, pads, residual=residual)
        work_done = flops * reference.numel()
        times: dict[str, float] = {}
        choices: dict[str, Tile | None] = {"library": None}
        for tile in candidates(layer.weight.shape[0], run, x.dtype == torch.float16):
            choices[f"{tile.rows}x{tile.columns}x{tile.depth}w{tile.warps}s{tile.stages}"] = tile
        for name, choice in choices.items():
            if time.monotonic() > self.until and times:
                break
            self._use(key, choice)
            try:
                self._check(x, layer, pads, into, residual, reference)
                times[name] = milliseconds(lambda: self.ops.conv(x, layer, pads, into=into, residual=residual))
            except Exception as error:  # a tile that does not compile or fit is a result, not a failure
                self.say(f"  {name}: refused ({type(error).__name__}: {str(error)[:160]})")
        if not times:
            self._use(key, None)
            return
        best = min(times, key=lambda name: times[name])
        self._use(key, choices[best])
        rate = work_done / times[best] / 1e9
        every = " ".join(f"{name}={value:.3f}" for name, value in times.items())
        self.say(f"  conv {key}: {best} {times[best]:.3f} ms {rate:.0f} TFLOP/s [{every}]")

    def _use(self, key: tuple[int, ...], choice: Tile | None) -> None:
        self.ops.left_to_cudnn.discard(key)
        self.ops.tiles.pop(key, None)
        if choice is None:
            self.ops.left_to_cudnn.add(key)
        else:
            self.ops.tiles[key] = choice

    def _check(
        self,
        x: torch.Tensor,
        layer: Folded,
        pads: Pads,
        into: Sequence[torch.Tensor],
        residual: torch.Tensor | None,
        reference: torch.Tensor,
    ) -> None:
        got = self.ops.conv(x, layer, pads, into=into, residual=residual)
        parts = into or (got,)
        wanted = reference.split([part.shape[-1] for part in parts], dim=-1)
        for part, whole in zip(parts, wanted, strict=True):
            for edge in (slice(0, 1), slice(-1, None)):
                want = whole[edge].float()
                error = float((part[edge].float() - want).norm() / want.norm())
                if not error < TOLERANCE:
                    raise ValueError(f"relative error {error:.2e}")
