"""3D ResNet-50, the network behind FID-VID: the plain form, state-dict keys as published (without `module.`).

Reference   Hara, Kataoka & Satoh 2018, "Can Spatiotemporal 3D CNNs Retrace the History of 2D CNNs and ImageNet?".
            Bottleneck 3-4-6-3, shortcut type B, first convolution 7³ with stride (1, 2, 2).
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from rushes.instruments.distribution.features.backbones import Backbone, Published
from rushes.instruments.distribution.networks.fast import FastNetwork, Pads, PlainOperations, window_means
from rushes.instruments.distribution.networks.folding import Folded, fold

FEATURES = 2048
BLOCKS = (3, 4, 6, 3)
EXPANSION = 4


class Bottleneck(nn.Module):
    """1×1×1, 3×3×3 (with the stride), 1×1×1, and the shortcut added before the last ReLU."""

    def __init__(self, inputs: int, planes: int, stride: int, *, eps: float) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(inputs, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm3d(planes, eps=eps)
        self.conv2 = nn.Conv3d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm3d(planes, eps=eps)
        self.conv3 = nn.Conv3d(planes, planes * EXPANSION, 1, bias=False)
        self.bn3 = nn.BatchNorm3d(planes * EXPANSION, eps=eps)
        self.downsample: nn.Sequential | None = None
        if stride != 1 or inputs != planes * EXPANSION:
            shortcut = nn.Conv3d(inputs, planes * EXPANSION, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm3d(planes * EXPANSION, eps=eps))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet3D50(nn.Module):
    """Clips (N, 3, T, 112, 112), mean-subtracted, to 2048 pooled features each (no `fc`, which is only stored).

    The last average pool spans (ceil(frames / 16), 4, 4), so `frames` is settled when the network is built.
    """

    def __init__(self, *, bn_eps: float = 1e-5, frames: int = 16) -> None:
        super().__init__()
        self.pool = (math.ceil(frames / 16), 4, 4)
        self.conv1 = nn.Conv3d(3, 64, 7, (1, 2, 2), 3, bias=False)
        self.bn1 = nn.BatchNorm3d(64, eps=bn_eps)
        width = 64
        for number, blocks in enumerate(BLOCKS, 1):
            planes = 64 * 2 ** (number - 1)
            layers = []
            for block in range(blocks):
                stride = 2 if number > 1 and block == 0 else 1
                layers.append(Bottleneck(width, planes, stride, eps=bn_eps))
                width = planes * EXPANSION
            self.add_module(f"layer{number}", nn.Sequential(*layers))
        self.fc = nn.Linear(FEATURES, 400)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool3d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for number in range(1, len(BLOCKS) + 1):
            x = self.get_submodule(f"layer{number}")(x)
        pooled: torch.Tensor = F.avg_pool3d(x, self.pool, stride=1)
        return pooled.flatten(1)


class FastResNet3D50(FastNetwork):
    """`ResNet3D50` rearranged; built from a loaded one."""

    stride = (1, 2, 2)

    def take_over(self, network: nn.Module) -> Folded:
        assert isinstance(network, ResNet3D50)
        self.pool = network.pool
        self.blocks: list[_FoldedBottleneck] = []
        for number in range(1, len(BLOCKS) + 1):
            self.blocks += [_FoldedBottleneck(block) for block in network.get_submodule(f"layer{number}").children()]
        return fold(network.conv1, network.bn1)

    def stem_pads(self, x: torch.Tensor) -> Pads:
        return (3, 3), (3, 3), (3, 3)

    def trunk(self, x: torch.Tensor) -> torch.Tensor:
        x = self._first(x)
        x = self.ops.pool(x, (3, 3, 3), (2, 2, 2), ((1, 1), (1, 1), (1, 1)))
        for block in self.blocks:
            x = block(x, self.ops)
        return window_means(x, self.pool).permute(0, 4, 1, 2, 3).flatten(1)


class _FoldedBottleneck:
    def __init__(self, block: nn.Module) -> None:
        if not isinstance(block, Bottleneck):
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


def _random_scale(name: str) -> float:
    """Pixels are on the 0–255 scale, and sixteen shortcuts in a row grow without end but for small last norms."""
    return 1 / 64 if name == "conv1.weight" else 0.3 if ".bn3.weight" in name else 1.0


BACKBONE = Backbone(
    name="r3d50",
    label="3DRN50",
    features={"avgpool2048": FEATURES},
    build=lambda recipe: ResNet3D50(bn_eps=float(recipe.bn_eps), frames=recipe.frames),
    recognised_by="conv1.",
    published=(
        Published("resnet-50-kinetics.pth", sha256="69b6a070ed1004c3b28a1751d5bc60f7dfd24d145425db32719989544d6dafc9"),
    ),
    parallel_layout=True,
    bn_eps=1e-5,
    pool="ceil(T/16)x4x4",
    size=112,
    normalise="x-[114.7748,107.7354,99.475]",
    fast=FastResNet3D50,
    # 12 channels, as the first convolution has them, are fetched badly; 16 with zeros are quicker by half
    gpu_multiple=16,
    random_scale=_random_scale,
)
