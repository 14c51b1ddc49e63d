"""3D ResNet-50, the network behind FID-VID: the plain form, state-dict keys as published (without `module.`).

Reference   Hara, Kataoka & Satoh 2018, "Can Spatiotemporal 3D CNNs Retrace the History of 2D CNNs and ImageNet?".
            Bottleneck 3-4-6-3, shortcut type B, first convolution 7³ with stride (1, 2, 2).
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

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
