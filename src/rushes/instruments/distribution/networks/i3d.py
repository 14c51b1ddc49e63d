"""I3D, the inflated Inception network behind FVD: the plain form, one module per layer, state-dict keys as published,
and the quick form, whose three 1×1×1 branches are one product and whose branches write into the joined buffer.

Reference   Carreira & Zisserman 2017, "Quo Vadis, Action Recognition?"; Unterthiner et al. 2018 for its use in FVD.
            Every convolution and pool pads as TensorFlow's SAME; a pool's padding is zeros, which after a ReLU is the
            same as leaving the border out.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import torch
from torch import nn
from torch.nn import functional as F

from rushes.instruments.distribution.features.backbones import Backbone, Published
from rushes.instruments.distribution.networks.fast import FastNetwork, PlainOperations, same_pads, window_means
from rushes.instruments.distribution.networks.folding import Folded, Triple, fold, merge, pad_same

FEATURES = 400
WIDTHS: dict[str, tuple[int, tuple[int, int, int, int, int, int]]] = {
    # name: channels in, then b0, b1a, b1b, b2a, b2b, b3b
    "Mixed_3b": (192, (64, 96, 128, 16, 32, 32)),
    "Mixed_3c": (256, (128, 128, 192, 32, 96, 64)),
    "Mixed_4b": (480, (192, 96, 208, 16, 48, 64)),
    "Mixed_4c": (512, (160, 112, 224, 24, 64, 64)),
    "Mixed_4d": (512, (128, 128, 256, 24, 64, 64)),
    "Mixed_4e": (512, (112, 144, 288, 32, 64, 64)),
    "Mixed_4f": (528, (256, 160, 320, 32, 128, 128)),
    "Mixed_5b": (832, (256, 160, 320, 32, 128, 128)),
    "Mixed_5c": (832, (384, 192, 384, 48, 128, 128)),
}
POOLS: dict[str, tuple[Triple, Triple]] = {
    # the layer a pool comes before: kernel, stride
    "Conv3d_2b_1x1": ((1, 3, 3), (1, 2, 2)),
    "Mixed_3b": ((1, 3, 3), (1, 2, 2)),
    "Mixed_4b": ((3, 3, 3), (2, 2, 2)),
    "Mixed_5b": ((2, 2, 2), (2, 2, 2)),
}


def pool_same(x: torch.Tensor, kernel: Triple, stride: Triple) -> torch.Tensor:
    """Max-pool with SAME padding by zeros."""
    return F.max_pool3d(pad_same(x, kernel, stride), kernel, stride)


class Unit(nn.Module):
    """Convolution, batch norm, ReLU; for the logits a bias and neither of the other two."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1, *, eps: float, plain: bool = False
    ) -> None:
        super().__init__()
        self.kernel, self.stride = (kernel,) * 3, (stride,) * 3
        self.conv3d = nn.Conv3d(inputs, outputs, kernel, stride, bias=plain)
        self.bn = None if plain else nn.BatchNorm3d(outputs, eps=eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv3d(pad_same(x, self.kernel, self.stride))
        return x if self.bn is None else F.relu(self.bn(x))


class Mixed(nn.Module):
    """One Inception block: four branches over the same input, joined along the channels."""

    def __init__(self, inputs: int, widths: tuple[int, int, int, int, int, int], *, eps: float) -> None:
        super().__init__()
        b0, b1a, b1b, b2a, b2b, b3b = widths
        self.b0 = Unit(inputs, b0, eps=eps)
        self.b1a = Unit(inputs, b1a, eps=eps)
        self.b1b = Unit(b1a, b1b, 3, eps=eps)
        self.b2a = Unit(inputs, b2a, eps=eps)
        self.b2b = Unit(b2a, b2b, 3, eps=eps)
        self.b3b = Unit(inputs, b3b, eps=eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled = pool_same(x, (3, 3, 3), (1, 1, 1))
        return torch.cat([self.b0(x), self.b1b(self.b1a(x)), self.b2b(self.b2a(x)), self.b3b(pooled)], dim=1)


class I3D(nn.Module):
    """Clips (N, 3, T, H, W), normalised, to 400 logits each.

    `bn_eps` is 1e-3 in the trained network; 1e-5 is a port's mistake that some published numbers were made with.
    `pool_frames` is the temporal extent of the last average pool: 2 as trained (needs 9 frames), 1 in some ports.
    The logits are averaged over what is left of time.
    """

    def __init__(self, *, bn_eps: float = 1e-3, pool_frames: int = 2) -> None:
        super().__init__()
        self.pool_frames = pool_frames
        self.Conv3d_1a_7x7 = Unit(3, 64, 7, 2, eps=bn_eps)
        self.Conv3d_2b_1x1 = Unit(64, 64, eps=bn_eps)
        self.Conv3d_2c_3x3 = Unit(64, 192, 3, eps=bn_eps)
        for name, (inputs, widths) in WIDTHS.items():
            self.add_module(name, Mixed(inputs, widths, eps=bn_eps))
        self.logits = Unit(1024, FEATURES, eps=bn_eps, plain=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for name, layer in self.named_children():
            if name == "logits":
                break
            if name in POOLS:
                x = pool_same(x, *POOLS[name])
            x = layer(x)
        logits: torch.Tensor = self.logits(F.avg_pool3d(x, (self.pool_frames, 7, 7), stride=1))
        return logits.mean(dim=(2, 3, 4))


class FastI3D(FastNetwork):
    """`I3D` rearranged; built from a loaded `I3D`, whose settings it takes over."""

    stride = (2, 2, 2)

    def take_over(self, network: nn.Module) -> Folded:
        assert isinstance(network, I3D)
        self.pool_frames = network.pool_frames
        self.conv2b, self.conv2c = _fold_unit(network.Conv3d_2b_1x1), _fold_unit(network.Conv3d_2c_3x3)
        self.blocks = {name: _FoldedMixed(network.get_submodule(name)) for name in WIDTHS}
        conv = network.logits.conv3d
        if conv.bias is None:
            raise AssertionError("the logits carry a bias")
        self.logits = (conv.weight.detach().flatten(1), conv.bias.detach())
        return _fold_unit(network.Conv3d_1a_7x7)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        x = self._first(x)
        x = self._pool("Conv3d_2b_1x1", x)
        x = self.ops.conv(x, self.conv2b)
        x = self.ops.conv(x, self.conv2c, same_pads(x, (3, 3, 3), (1, 1, 1)))
        for name, block in self.blocks.items():
            if name in POOLS:
                x = self._pool(name, x)
            x = block(x, self.ops)
        weight, bias = self.logits
        pooled = window_means(x, (self.pool_frames, 7, 7))
        return F.linear(pooled.mean(dim=(1, 2, 3)), weight, bias)

    def _pool(self, before: str, x: torch.Tensor) -> torch.Tensor:
        kernel, stride = POOLS[before]
        return self.ops.pool(x, kernel, stride, same_pads(x, kernel, stride))


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
        around = same_pads(x, (3, 3, 3), (1, 1, 1))
        ops.conv(x, self.ones, into=(out0, mid1, mid2))
        ops.conv(mid1, self.b1b, around, into=(out1,))
        ops.conv(mid2, self.b2b, around, into=(out2,))
        ops.conv(ops.pool(x, (3, 3, 3), (1, 1, 1), around), self.b3b, into=(out3,))
        return joined


def _fold_unit(unit: nn.Module) -> Folded:
    if not isinstance(unit, Unit):
        raise AssertionError("an I3D branch is made of units")
    return fold(unit.conv3d, unit.bn)


BACKBONE = Backbone(
    name="i3d",
    label="3DInception",
    features={"logits400": FEATURES},
    build=lambda recipe: I3D(bn_eps=float(recipe.bn_eps), pool_frames=int(recipe.pool.partition("x")[0])),
    recognised_by="Mixed_",
    published=(
        Published("i3d_pretrained_400.pt", git_blob="a867b87ac3a9097d200598b1d48a1b890d8ec744"),
        Published(
            "i3d-kinetics-400.npz",
            sha256="af5c50f0df57cc48c82fb990ea903796e001d6f57fe33d9ad5c219db4fb5aebd",
            content="b02d896c6c405629d257445f14ea7887becb5655a537e4fdfef2801462c13932",
        ),
    ),
    bn_eps=1e-3,
    pool="1x7x7-mean",
    size=224,
    normalise="x/127.5-1",
    fast=FastI3D,
)
