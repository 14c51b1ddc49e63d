"""The quick path on a CPU: convolutions through Winograd's points, with weights that are packed once.

A batch runs on one thread from end to end, so that a value's bits do not depend on how many threads there are. Against
torch's own convolutions, values move by less than 1e-7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.instruments.fidelity.networks.tiles import (
    BLOCK,
    SIDE,
    distances,
    outputs,
    points,
    pooled,
)
from rushes.instruments.fidelity.networks.trunks import Conv, Span, scaling, spread_weights
from rushes.instruments.fidelity.networks.weights import Array, LpipsWeights

_POINTS = {3: (0.0, 1.0, -1.0, 2.0, -2.0), 5: (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)}
"""By the kernel's width; infinity is added."""
_LEAST_TILES = 64
"""oneDNN takes another form for fewer, in which packed weights are of no use: a hundred times slower."""
_DEEP = 512
"""Channels from which on twice the tiles are multiplied at a time: weights no longer fit a core's cache."""


def available() -> bool:
    """Whether this build of torch has what the packed form needs."""
    return (
        torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and hasattr(torch._C._nn, "mkldnn_reorder_conv2d_weight")
        and hasattr(torch.ops.mkldnn, "_convolution_pointwise")
    )


def kernel_at_points(width: int) -> NDArray[np.float64]:
    """What takes a kernel of this width to the points, one after the other, and infinity."""
    points = _POINTS[width]
    rows = [[p**power / np.prod([p - q for q in points if q != p]) for power in range(width)] for p in points]
    return np.array([*rows, [0.0] * (width - 1) + [1.0]])


def _packed(
    weight: Array, bias: Array | None, conv: Conv, *, groups: int = 1, shape: Sequence[int], after: str
) -> Callable[[torch.Tensor], torch.Tensor]:
    """A convolution whose weights are laid out once as oneDNN wants them for this shape of input."""
    pads, steps, ones = [conv.pad] * 2, [conv.stride] * 2, [1, 1]
    laid_out = torch._C._nn.mkldnn_reorder_conv2d_weight(  # type: ignore[call-arg]
        torch.from_numpy(weight).to_mkldnn(), pads, steps, ones, groups, list(shape)
    )
    offset = None if bias is None else torch.from_numpy(bias)

    def run(x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.ops.mkldnn._convolution_pointwise(
            x, laid_out, offset, pads, steps, ones, groups, after, [], ""
        )
        return found

    return run


class _First:
    """The first convolution, of three channels: oneDNN's own."""

    def __init__(self, conv: Conv, weight: Array, bias: Array) -> None:
        self.conv = conv
        self._run = _packed(weight, bias, conv, shape=[2, 3, 256, 256], after="relu")

    def __call__(self, before: _Map) -> _Map:
        values = self._run(torch.from_numpy(before.values).permute(0, 3, 1, 2)).permute(0, 2, 3, 1).numpy()
        count, rows, cols, channels = values.shape
        after = _Map.empty(count, rows, cols, channels)
        after.values[:, 1 : 1 + rows, 1 : 1 + cols] = values
        return after


class _Tiled:
    """A stride-1 convolution through points."""

    def __init__(self, conv: Conv, weight: Array, bias: Array) -> None:
        self.conv, self._bias = conv, bias
        self._side = conv.kernel + SIDE - 1
        self._points = self._side**2
        self._tiles = _LEAST_TILES * (2 if conv.inputs >= _DEEP else 1)
        turn = kernel_at_points(conv.kernel)
        self._multiply = [
            self._block((turn @ weight[start : start + BLOCK].astype(np.float64) @ turn.T).astype(np.float32))
            for start in range(0, conv.outputs, BLOCK)
        ]

    def _block(self, at: Array) -> Callable[[torch.Tensor], torch.Tensor]:
        """Products for a block of outputs: all points as groups of one convolution with a kernel of one pixel."""
        rows = np.ascontiguousarray(at.transpose(2, 3, 0, 1)).reshape(-1, self.conv.inputs, 1, 1)
        shape = [1, self._points * self.conv.inputs, self._tiles, 1]
        return _packed(rows, None, Conv(0, 0, pad=0), groups=self._points, shape=shape, after="none")

    def __call__(self, before: _Map) -> _Map:
        rows, cols, inputs = before.rows, before.cols, self.conv.inputs
        after = _Map.empty(len(before.values), rows, cols, self.conv.outputs)
        total = len(before.values) * -(-rows // SIDE) * -(-cols // SIDE)
        at = np.zeros((self._tiles, self._points, inputs), np.float32)
        for first in range(0, total, self._tiles):
            count = min(self._tiles, total - first)
            points(self._side, before.values, first, at[:count])
            padded = at[: max(count, _LEAST_TILES)]  # rows past the count are left from before, and not read
            flat = torch.from_numpy(padded.reshape(1, len(padded), 1, -1)).permute(0, 3, 1, 2)
            for number, multiply in enumerate(self._multiply):
                products = multiply(flat).permute(0, 2, 3, 1).numpy().reshape(len(padded), self._points, BLOCK)
                given, start = products[:count], number * BLOCK
                outputs(self._side, given, first, self._bias, start, after.values, after.pad, rows, cols)
        return after


@dataclass(slots=True)
class _Map:
    """Features of all pictures of a batch, with zeros around them."""

    values: Array
    pad: int
    rows: int
    cols: int

    @classmethod
    def empty(cls, count: int, rows: int, cols: int, channels: int, *, kernel: int = 3) -> _Map:
        """Zeros, with room for what a convolution with this kernel reads: whole tiles, and its padding."""
        tall, wide = (-(-side // SIDE) * SIDE + kernel - 1 for side in (rows, cols))
        return cls(np.zeros((count, tall, wide, channels), np.float32), kernel // 2, rows, cols)


class QuickNetwork:
    """LPIPS on a CPU: eight-bit pictures to distances."""

    def __init__(self, weights: LpipsWeights, *, span: Span) -> None:
        self._trunk, self._heads = weights.trunk, weights.heads
        self._factor, self._offset = scaling(span)
        layers = zip(self._trunk.convs, weights.kernels, weights.biases, strict=True)
        self._layers = [_First(*layer) if layer[0].inputs == 3 else _Tiled(*layer) for layer in layers]

    def __call__(self, gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Of N pairs of pictures (N × H × W × 3), N × 2: the mean over each layer, and over each layer enlarged."""
        (height, width), found = gen.shape[1:3], np.zeros((2, len(gen)))
        layers = iter(self._layers)
        at = _Map(np.concatenate([gen, gt]) * self._factor + self._offset, 0, height, width)
        with torch.inference_mode():
            for stage, head in zip(self._trunk.stages, self._heads, strict=True):
                if stage.pool:
                    at = _pool(at, stage.pool, stage.convs[0].kernel)
                for _ in stage.convs:
                    at = next(layers)(at)
                down, across = spread_weights(at.rows, height), spread_weights(at.cols, width)
                distances(at.values, at.pad, head, down, across, found[0], found[1])
        return found.T


def _pool(before: _Map, window: int, kernel: int) -> _Map:
    rows, cols = ((side - window) // 2 + 1 for side in (before.rows, before.cols))
    after = _Map.empty(len(before.values), rows, cols, before.values.shape[3], kernel=kernel)
    pooled(before.values, before.pad, window, after.values, after.pad, rows, cols)
    return after
