"""The few operations the quick path is made of, in plain torch; `kernels.py` has the same ones in Triton.

Clips are (N, T, H, W, C), so that a 1×1×1 convolution is one matrix product and joining branches is writing side by
side into one buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from rushes.instruments.distribution.networks.folding import Folded, Triple

Parts = Sequence[Tensor]
"""Buffers that take an output's channels, in order."""
Pads = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
_PACKED_FRAMES = 8
NO_PADS: Pads = ((0, 0), (0, 0), (0, 0))


def output_shape(x: torch.Tensor, kernel: Triple, stride: Triple, pads: Pads) -> Triple:
    sizes = zip(x.shape[1:4], kernel, stride, pads, strict=True)
    t, h, w = ((size + sum(pad) - k) // s + 1 for size, k, s, pad in sizes)
    return t, h, w


def _padded(x: torch.Tensor, pads: Pads) -> tuple[torch.Tensor, list[int]]:
    """`x` and the padding left to the convolution; uneven zeros are put around `x` here."""
    if all(before == after for before, after in pads):
        return x, [before for before, _ in pads]
    return F.pad(x, [0, 0, *(zeros for pair in reversed(pads) for zeros in pair)]), [0, 0, 0]


def _hand_over(y: Tensor, into: Parts) -> None:
    start = 0
    for part in into:
        part.copy_(y[..., start : start + part.shape[-1]])
        start += part.shape[-1]


class PlainOperations:
    """Runs anywhere torch does; the reference for every faster form."""

    def conv(
        self, x: Tensor, layer: Folded, pads: Pads = NO_PADS, *, into: Parts = (), residual: Tensor | None = None
    ) -> Tensor:
        """relu(conv(x) + bias [+ residual]); `into` takes the output's channels, split over these buffers in order."""
        y = self._raw(x, layer, pads)
        y += layer.bias.to(y.dtype)
        if residual is not None:
            y += residual
        if layer.relu:
            y.relu_()
        _hand_over(y, into)
        return y

    def _raw(self, x: torch.Tensor, layer: Folded, pads: Pads) -> torch.Tensor:
        if layer.kernel == (1, 1, 1):
            st, sh, sw = layer.stride
            return F.linear(x[:, ::st, ::sh, ::sw], layer.weight.flatten(1))
        x, around = _padded(x, pads)
        y = F.conv3d(x.permute(0, 4, 1, 2, 3), layer.weight, None, layer.stride, around)
        return y.permute(0, 2, 3, 4, 1).contiguous()

    def pool(self, x: torch.Tensor, kernel: Triple, stride: Triple, pads: Pads) -> torch.Tensor:
        """Max over each window; what lies outside the clip does not count (the input is never negative)."""
        flat = [zeros for pair in reversed(pads) for zeros in pair]
        y = F.max_pool3d(F.pad(x.permute(0, 4, 1, 2, 3), flat), kernel, stride)
        return y.permute(0, 2, 3, 4, 1).contiguous()


class PackedOperations(PlainOperations):
    """A CPU's form: weights laid out once as oneDNN wants them, bias and ReLU done by the convolution itself.

    The plain form lays the weights out again on every call, which for one clip costs as much as the work.
    """

    def __init__(self) -> None:
        self._packed: dict[int, tuple[Folded, torch.Tensor]] = {}

    @staticmethod
    def available() -> bool:
        """Whether this build of torch has what the packed form needs."""
        return (
            torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
            and hasattr(torch._C._nn, "mkldnn_reorder_conv3d_weight")
            and hasattr(torch.ops.mkldnn, "_convolution_pointwise")
        )

    def conv(
        self, x: Tensor, layer: Folded, pads: Pads = NO_PADS, *, into: Parts = (), residual: Tensor | None = None
    ) -> Tensor:
        if x.dtype != torch.float32 or (layer.kernel == (1, 1, 1) and layer.stride == (1, 1, 1)):
            return super().conv(x, layer, pads, into=into, residual=residual)
        x, around = _padded(x, pads)
        clips = x.permute(0, 4, 1, 2, 3)
        stride, ones = list(layer.stride), [1, 1, 1]
        after = "relu" if layer.relu and residual is None else "none"
        y: torch.Tensor = torch.ops.mkldnn._convolution_pointwise(
            clips, self._weight(layer, clips, around), layer.bias, around, stride, ones, 1, after, [], ""
        ).permute(0, 2, 3, 4, 1)
        if residual is not None:
            y += residual
            y = y.relu_() if layer.relu else y
        _hand_over(y, into)
        return y

    def _weight(self, layer: Folded, clips: torch.Tensor, around: list[int]) -> torch.Tensor:
        if id(layer) not in self._packed:
            # laid out for one length whatever came first, so that a row's bits do not depend on what ran before it
            shape = [1, clips.shape[1], _PACKED_FRAMES, *clips.shape[3:]]
            packed = torch._C._nn.mkldnn_reorder_conv3d_weight(  # type: ignore[call-arg]
                layer.weight.to_mkldnn(), around, list(layer.stride), [1, 1, 1], 1, shape
            )
            self._packed[id(layer)] = (layer, packed)
        return self._packed[id(layer)][1]
