"""The quick path: the same features as `I3D` and `ResNet3D50`, rearranged.

Batch norm is folded, the 1×1×1 branches of an Inception block are one product, the first convolution runs on
space-to-depth, branches write straight into the joined buffer. The operations are plain torch on a CPU and Triton
kernels on a GPU (`rushes.distribution.networks.kernels`), with the plain ones as their tested reference.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import torch
from torch import nn
from torch.nn import functional as F

from rushes.distribution.networks import i3d, resnet3d
from rushes.distribution.networks.folding import Folded, deep_size, deepen, fold, merge, space_to_depth
from rushes.distribution.networks.operations import Pads, PlainOperations
from rushes.distribution.networks.same_padding import Triple, same_padding


def _same(x: torch.Tensor, kernel: Triple, stride: Triple) -> Pads:
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

    def __init__(self, operations: PlainOperations | None = None, *, deepened: bool = True, multiple: int = 1) -> None:
        self.ops = operations or PlainOperations()
        self.deepened, self.multiple = deepened, multiple

    def stem_pads(self, sizes: Triple) -> Pads:
        raise AssertionError("each network pads in its own way")

    def prepare(self, x: torch.Tensor) -> torch.Tensor:
        """Clips in the form the first convolution reads."""
        if not self.deepened:
            return x
        return deep_input(x, self.kernel, self.stride, self._pads_of(x), multiple=self.multiple)

    def _pads_of(self, x: torch.Tensor) -> Pads:
        return self.stem_pads((x.shape[1], x.shape[2], x.shape[3]))

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        """From prepared clips to features."""
        raise AssertionError("each network has its own trunk")

    def _first(self, x: torch.Tensor) -> torch.Tensor:
        if self.deepened:
            return self.ops.conv(x, self.stem)
        return self.ops.conv(x, self.stem, self._pads_of(x))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return self.trunk(self.prepare(x))


class FastI3D(FastNetwork):
    """`I3D` rearranged; built from a loaded `I3D`, whose settings it takes over."""

    stride = (2, 2, 2)

    def __init__(
        self,
        network: i3d.I3D,
        operations: PlainOperations | None = None,
        *,
        deepened: bool = True,
        multiple: int = 1,
    ) -> None:
        super().__init__(operations, deepened=deepened, multiple=multiple)
        self.pool_frames = network.pool_frames
        stem = _fold_unit(network.Conv3d_1a_7x7)
        self.stem = deepen(stem, multiple=multiple) if deepened else stem
        self.conv2b, self.conv2c = _fold_unit(network.Conv3d_2b_1x1), _fold_unit(network.Conv3d_2c_3x3)
        self.blocks = {name: _FoldedMixed(network.get_submodule(name)) for name in i3d.WIDTHS}
        conv = network.logits.conv3d
        if conv.bias is None:
            raise AssertionError("the logits carry a bias")
        self.logits = (conv.weight.detach().flatten(1), conv.bias.detach())

    def stem_pads(self, sizes: Triple) -> Pads:
        t, h, w = (same_padding(s, k, d) for s, k, d in zip(sizes, self.kernel, self.stride, strict=True))
        return t, h, w

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        x = self._first(x)
        x = self._pool("Conv3d_2b_1x1", x)
        x = self.ops.conv(x, self.conv2b)
        x = self.ops.conv(x, self.conv2c, _same(x, (3, 3, 3), (1, 1, 1)))
        for name, block in self.blocks.items():
            if name in i3d.POOLS:
                x = self._pool(name, x)
            x = block(x, self.ops)
        weight, bias = self.logits
        pooled = window_means(x, (self.pool_frames, 7, 7))
        return F.linear(pooled.mean(dim=(1, 2, 3)), weight, bias)

    def _pool(self, before: str, x: torch.Tensor) -> torch.Tensor:
        kernel, stride = i3d.POOLS[before]
        return self.ops.pool(x, kernel, stride, _same(x, kernel, stride))


class _FoldedMixed:
    """An Inception block with its three 1×1×1 branches over the same input merged."""

    def __init__(self, block: nn.Module) -> None:
        b0, b1a, b2a = (_fold_unit(block.get_submodule(name)) for name in ("b0", "b1a", "b2a"))
        self.ones = merge(b0, b1a, b2a)
        self.widths = tuple(len(b.bias) for b in (b0, b1a, b2a))
        self.b1b, self.b2b, self.b3b = (_fold_unit(block.get_submodule(name)) for name in ("b1b", "b2b", "b3b"))

    def __call__(self, x: torch.Tensor, ops: PlainOperations) -> torch.Tensor:
        w0, w1, w2 = self.widths
        ends = [w0, len(self.b1b.bias), len(self.b2b.bias), len(self.b3b.bias)]
        joined = x.new_empty((*x.shape[:4], sum(ends)))
        edges = list(accumulate(ends, initial=0))
        out0, out1, out2, out3 = (joined[..., start:end] for start, end in pairwise(edges))
        mid1, mid2 = x.new_empty((*x.shape[:4], w1)), x.new_empty((*x.shape[:4], w2))
        around = _same(x, (3, 3, 3), (1, 1, 1))
        ops.conv(x, self.ones, into=(out0, mid1, mid2))
        ops.conv(mid1, self.b1b, around, into=(out1,))
        ops.conv(mid2, self.b2b, around, into=(out2,))
        ops.conv(ops.pool(x, (3, 3, 3), (1, 1, 1), around), self.b3b, into=(out3,))
        return joined


class FastResNet3D50(FastNetwork):
    """`ResNet3D50` rearranged; built from a loaded one."""

    stride = (1, 2, 2)

    def __init__(
        self,
        network: resnet3d.ResNet3D50,
        operations: PlainOperations | None = None,
        *,
        deepened: bool = True,
        multiple: int = 1,
    ) -> None:
        super().__init__(operations, deepened=deepened, multiple=multiple)
        self.pool = network.pool
        stem = fold(network.conv1, network.bn1)
        self.stem = deepen(stem, multiple=multiple) if deepened else stem
        self.blocks: list[_FoldedBottleneck] = []
        for number in range(1, len(resnet3d.BLOCKS) + 1):
            self.blocks += [_FoldedBottleneck(block) for block in network.get_submodule(f"layer{number}").children()]

    def stem_pads(self, sizes: Triple) -> Pads:
        return (3, 3), (3, 3), (3, 3)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        x = self._first(x)
        x = self.ops.pool(x, (3, 3, 3), (2, 2, 2), ((1, 1), (1, 1), (1, 1)))
        for block in self.blocks:
            x = block(x, self.ops)
        return window_means(x, self.pool).permute(0, 4, 1, 2, 3).flatten(1)


class _FoldedBottleneck:
    def __init__(self, block: nn.Module) -> None:
        if not isinstance(block, resnet3d.Bottleneck):
            raise AssertionError("a ResNet layer is made of bottlenecks")
        self.conv1, self.conv2 = fold(block.conv1, block.bn1), fold(block.conv2, block.bn2)
        self.conv3 = fold(block.conv3, block.bn3)
        self.shortcut: Folded | None = None
        if block.downsample is not None:
            conv, norm = block.downsample[0], block.downsample[1]
            if isinstance(conv, nn.Conv3d) and isinstance(norm, nn.BatchNorm3d):
                self.shortcut = fold(conv, norm, relu=False)

    def __call__(self, x: torch.Tensor, ops: PlainOperations) -> torch.Tensor:
        y = ops.conv(x, self.conv1)
        y = ops.conv(y, self.conv2, ((1, 1), (1, 1), (1, 1)))
        return ops.conv(y, self.conv3, residual=x if self.shortcut is None else ops.conv(x, self.shortcut))


def _fold_unit(unit: nn.Module) -> Folded:
    if not isinstance(unit, i3d.Unit):
        raise AssertionError("an I3D branch is made of units")
    return fold(unit.conv3d, unit.bn)


def window_means(x: torch.Tensor, window: Triple) -> torch.Tensor:
    """Average pool with stride 1 over (N, T, H, W, C); one window over everything is a plain mean, and quicker."""
    if x.dtype == torch.float16:
        x = x.float()
    if tuple(x.shape[1:4]) == window:
        return x.mean(dim=(1, 2, 3), keepdim=True)
    return F.avg_pool3d(x.permute(0, 4, 1, 2, 3), window, stride=1).permute(0, 2, 3, 4, 1)
