"""The quick path's frame: the same features as a plain network, rearranged. Each backbone's file has its own trunk.

Batch norm is folded, the first convolution runs on space-to-depth. The few operations it is made of are plain torch on
a CPU and Triton kernels on a GPU (`rushes.instruments.distribution.networks.kernels`), with the plain ones as their
tested reference. Clips are (N, T, H, W, C), so that a 1×1×1 convolution is one matrix product and joining branches is
writing side by side into one buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rushes.instruments.distribution.networks.folding import (
    Folded,
    Triple,
    deep_size,
    deepen,
    same_padding,
    space_to_depth,
)

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


def same_pads(x: torch.Tensor, kernel: Triple, stride: Triple) -> Pads:
    t, h, w = (same_padding(s, k, d) for s, k, d in zip(x.shape[1:4], kernel, stride, strict=True))
    return t, h, w


def deep_input(x: torch.Tensor, kernel: Triple, stride: Triple, pads: Pads, *, multiple: int = 1) -> torch.Tensor:
    """The padded space-to-depth form of clips (N, T, H, W, C) that a deepened first convolution reads."""
    flat = [0, 0]
    for size, k, s, (before, after) in reversed(list(zip(x.shape[1:4], kernel, stride, pads, strict=True))):
        _, padded = deep_size(size, k, s, before, after)
        flat += [before, padded - size - before]
    deep = space_to_depth(F.pad(x, flat), stride)
    return F.pad(deep, [0, -deep.shape[-1] % multiple])


class FastNetwork:
    """Shared frame: clips (N, T, H, W, 3), normalised, to features (N, D) in float32.

    `deepened` says whether the first convolution runs on space-to-depth. It pays where a matrix unit wants many
    channels; on a CPU the plain form is quicker, and it is kept there. `multiple` is for `deepen`.
    """

    kernel: Triple = (7, 7, 7)
    stride: Triple
    stem: Folded

    def __init__(
        self, network: nn.Module, operations: PlainOperations | None = None, *, deepened: bool = True, multiple: int = 1
    ) -> None:
        self.ops = operations or PlainOperations()
        self.deepened, self.multiple = deepened, multiple
        stem = self.take_over(network)
        self.stem = deepen(stem, multiple=multiple) if deepened else stem

    def take_over(self, network: nn.Module) -> Folded:
        """Fold the layers of a loaded network, and give its first one."""
        raise AssertionError("each network has its own layers")

    def stem_pads(self, x: torch.Tensor) -> Pads:
        """The zeros around clips (N, T, H, W, C) that the first convolution needs."""
        return same_pads(x, self.kernel, self.stride)

    def prepare(self, x: torch.Tensor) -> torch.Tensor:
        """Clips in the form the first convolution reads."""
        if not self.deepened:
            return x
        return deep_input(x, self.kernel, self.stride, self.stem_pads(x), multiple=self.multiple)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        """From prepared clips to features."""
        raise AssertionError("each network has its own trunk")

    def _first(self, x: torch.Tensor) -> torch.Tensor:
        return self.ops.conv(x, self.stem, NO_PADS if self.deepened else self.stem_pads(x))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.trunk(self.prepare(x))


def window_means(x: torch.Tensor, window: Triple) -> torch.Tensor:
    """Average pool with stride 1 over (N, T, H, W, C); one window over everything is a plain mean, and quicker."""
    if x.dtype == torch.float16:
        x = x.float()
    if tuple(x.shape[1:4]) == window:
        return x.mean(dim=(1, 2, 3), keepdim=True)
    return F.avg_pool3d(x.permute(0, 4, 1, 2, 3), window, stride=1).permute(0, 2, 3, 4, 1)
