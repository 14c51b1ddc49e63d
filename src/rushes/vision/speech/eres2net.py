"""ERes2Net, 192 numbers that tell voices apart (Chen et al. 2023), as 3D-Speaker trained it on VoxCeleb.

A residual network over 80 mel bands; blocks split their channels in two and fuse them, and the four stages are fused
from the first to the last. The names of the layers are those of the checkpoint, `rushes models pull voice`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH = 32
STAGES = (3, 4, 6, 3)
BANDS = 80
NUMBERS = 192


class Fusion(nn.Module):
    """A weighted sum of two inputs, by weights that depend on both."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = channels // 4
        self.local_att = nn.Sequential(
            nn.Conv2d(2 * channels, inner, 1),
            nn.BatchNorm2d(inner),
            nn.SiLU(),
            nn.Conv2d(inner, channels, 1),
            nn.BatchNorm2d(channels),
        )

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        weight = 1 + torch.tanh(self.local_att(torch.cat((one, other), 1)))
        return one * weight + other * (2 - weight)


def _clipped(x: Tensor) -> Tensor:
    return F.hardtanh(x, 0.0, 20.0)


class Block(nn.Module):
    """Two parallel convolutions, the second over the first's output as well, and a way around them."""

    def __init__(self, before: int, planes: int, stride: int, *, fused: bool) -> None:
        super().__init__()
        width, after = planes // 2, 2 * planes
        self.conv1, self.bn1 = nn.Conv2d(before, 2 * width, 1, stride, bias=False), nn.BatchNorm2d(2 * width)
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.bns = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(2))
        if fused:
            self.fuse_models = nn.ModuleList([Fusion(width)])
        self.conv3, self.bn3 = nn.Conv2d(2 * width, after, 1, bias=False), nn.BatchNorm2d(after)
        way = (nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
        self.shortcut = nn.Sequential(*(way if stride != 1 or before != after else ()))
        self._fused = fused

    def forward(self, x: Tensor) -> Tensor:
        first, second = _clipped(self.bn1(self.conv1(x))).chunk(2, 1)
        one = _clipped(self.bns[0](self.convs[0](first)))
        joined = self.fuse_models[0](one, second) if self._fused else one + second
        other = _clipped(self.bns[1](self.convs[1](joined)))
        return _clipped(self.bn3(self.conv3(torch.cat((one, other), 1))) + self.shortcut(x))


def _stage(before: int, planes: int, blocks: int, stride: int, *, fused: bool) -> nn.Sequential:
    inputs = [before, *[2 * planes] * (blocks - 1)]
    strides = [stride, *[1] * (blocks - 1)]
    return nn.Sequential(*(Block(size, planes, step, fused=fused) for size, step in zip(inputs, strides, strict=True)))


class ERes2Net(nn.Module):
    """Mel energies (sounds × frames × 80) to 192 numbers each."""

    def __init__(self, stages: Sequence[int] = STAGES) -> None:
        super().__init__()
        w = WIDTH
        self.conv1, self.bn1 = nn.Conv2d(1, w, 3, padding=1, bias=False), nn.BatchNorm2d(w)
        self.layer1 = _stage(w, w, stages[0], 1, fused=False)
        self.layer2 = _stage(2 * w, 2 * w, stages[1], 2, fused=False)
        self.layer3 = _stage(4 * w, 4 * w, stages[2], 2, fused=True)
        self.layer4 = _stage(8 * w, 8 * w, stages[3], 2, fused=True)
        self.layer1_downsample = nn.Conv2d(2 * w, 4 * w, 3, 2, 1, bias=False)
        self.layer2_downsample = nn.Conv2d(4 * w, 8 * w, 3, 2, 1, bias=False)
        self.layer3_downsample = nn.Conv2d(8 * w, 16 * w, 3, 2, 1, bias=False)
        self.fuse_mode12, self.fuse_mode123, self.fuse_mode1234 = Fusion(4 * w), Fusion(8 * w), Fusion(16 * w)
        self.seg_1 = nn.Linear(2 * 16 * w * BANDS // 8, NUMBERS)

    def forward(self, energies: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(energies.transpose(1, 2).unsqueeze(1))))
        one = self.layer1(x)
        two = self.layer2(one)
        three = self.layer3(two)
        four = self.layer4(three)
        fused = self.fuse_mode12(two, self.layer1_downsample(one))
        fused = self.fuse_mode123(three, self.layer2_downsample(fused))
        fused = self.fuse_mode1234(four, self.layer3_downsample(fused))
        spread = torch.sqrt(fused.var(-1) + 1e-8)
        found: Tensor = self.seg_1(torch.cat((fused.mean(-1).flatten(1), spread.flatten(1)), 1))
        return found
