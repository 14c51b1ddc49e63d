"""Inception-v3 as FID uses it: the graph of 2015, 2048 numbers from the last average pool, keys as published.

It is not torchvision's: batch norm has no scale, average pools leave the border out, and the last block pools by
maximum. It sees pictures resized to 299 × 299 as (x − 128)/128.

Reference   Szegedy et al. 2016 for the network; Heusel et al. 2017 for its use in FID.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

from rushes.storage.numpy_files import load_npz
from rushes.vision.models.cache import model_path

FEATURES = 2048

Step: TypeAlias = "tuple[int, int | tuple[int, int]]"
"""Channels out, and the kernel."""


class Unit(nn.Module):
    """Convolution, batch norm without a scale (ε 1e-3), ReLU; padded to keep the size, or not at all."""

    beta: torch.Tensor
    mean: torch.Tensor
    var: torch.Tensor

    def __init__(
        self, inputs: int, outputs: int, kernel: int | tuple[int, int] = 1, *, stride: int = 1, padded: bool = True
    ) -> None:
        super().__init__()
        height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
        self.weight = nn.Parameter(torch.empty(outputs, inputs, height, width))
        self.register_buffer("beta", torch.zeros(outputs))
        self.register_buffer("mean", torch.zeros(outputs))
        self.register_buffer("var", torch.ones(outputs))
        self.stride, self.padding = stride, (height // 2, width // 2) if padded else (0, 0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.conv2d(x, self.weight, None, self.stride, self.padding)
        return F.relu(F.batch_norm(x, self.mean, self.var, None, self.beta, eps=1e-3))


def tower(inputs: int, *steps: Step, last_stride: int = 1, pool: nn.Module | None = None) -> nn.Sequential:
    """Units in a row, `conv`, `conv_1`, …, after a pool where there is one; a last stride of 2 is not padded."""
    found: OrderedDict[str, nn.Module] = OrderedDict() if pool is None else OrderedDict(pool=pool)
    widths = [inputs, *(outputs for outputs, _ in steps)]
    for number, ((before, after), (_, kernel)) in enumerate(zip(pairwise(widths), steps, strict=True)):
        stride = last_stride if number == len(steps) - 1 else 1
        unit = Unit(before, after, kernel, stride=stride, padded=stride == 1)
        found[f"conv_{number}" if number else "conv"] = unit
    return nn.Sequential(found)


def _average() -> nn.Module:
    return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)


class Block(nn.Module):
    """Branches over one input, joined along the channels in the order in which they were named."""

    def __init__(self, **branches: nn.Module) -> None:
        super().__init__()
        for name, branch in branches.items():
            self.add_module(name, branch)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.children()], dim=1)


def _block_35(inputs: int, pooled: int) -> Block:
    return Block(
        conv=Unit(inputs, 64),
        tower=tower(inputs, (48, 1), (64, 5)),
        tower_1=tower(inputs, (64, 1), (96, 3), (96, 3)),
        tower_2=tower(inputs, (pooled, 1), pool=_average()),
    )


def _block_17(width: int) -> Block:
    across, down = (1, 7), (7, 1)
    return Block(
        conv=Unit(768, 192),
        tower=tower(768, (width, 1), (width, across), (192, down)),
        tower_1=tower(768, (width, 1), (width, down), (width, across), (width, down), (192, across)),
        tower_2=tower(768, (192, 1), pool=_average()),
    )


class Block8(nn.Module):
    """The last two blocks, whose branches fork a second time."""

    def __init__(self, inputs: int, pool: nn.Module) -> None:
        super().__init__()
        self.conv = Unit(inputs, 320)
        self.tower_conv = Unit(inputs, 384)
        self.tower_mixed_conv, self.tower_mixed_conv_1 = Unit(384, 384, (1, 3)), Unit(384, 384, (3, 1))
        self.tower_1_conv, self.tower_1_conv_1 = Unit(inputs, 448), Unit(448, 384, 3)
        self.tower_1_mixed_conv, self.tower_1_mixed_conv_1 = Unit(384, 384, (1, 3)), Unit(384, 384, (3, 1))
        self.tower_2_pool, self.tower_2_conv = pool, Unit(inputs, 192)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one, two = self.tower_conv(x), self.tower_1_conv_1(self.tower_1_conv(x))
        forked = [self.tower_mixed_conv(one), self.tower_mixed_conv_1(one)]
        forked += [self.tower_1_mixed_conv(two), self.tower_1_mixed_conv_1(two)]
        return torch.cat([self.conv(x), *forked, self.tower_2_conv(self.tower_2_pool(x))], dim=1)


def inception_layers() -> nn.Sequential:
    """All layers in a row, by their published names."""
    layers = {
        "conv": Unit(3, 32, 3, stride=2, padded=False),
        "conv_1": Unit(32, 32, 3, padded=False),
        "conv_2": Unit(32, 64, 3),
        "pool0": nn.MaxPool2d(3, stride=2),
        "conv_3": Unit(64, 80),
        "conv_4": Unit(80, 192, 3, padded=False),
        "pool1": nn.MaxPool2d(3, stride=2),
        "mixed": _block_35(192, 32),
        "mixed_1": _block_35(256, 64),
        "mixed_2": _block_35(288, 64),
        "mixed_3": Block(
            conv=Unit(288, 384, 3, stride=2, padded=False),
            tower=tower(288, (64, 1), (96, 3), (96, 3), last_stride=2),
            pool=nn.MaxPool2d(3, stride=2),
        ),
        "mixed_4": _block_17(128),
        "mixed_5": _block_17(160),
        "mixed_6": _block_17(160),
        "mixed_7": _block_17(192),
        "mixed_8": Block(
            tower=tower(768, (192, 1), (320, 3), last_stride=2),
            tower_1=tower(768, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3), last_stride=2),
            pool=nn.MaxPool2d(3, stride=2),
        ),
        "mixed_9": Block8(1280, _average()),
        "mixed_10": Block8(2048, nn.MaxPool2d(3, stride=1, padding=1)),
        "pool2": nn.AvgPool2d(8),
    }
    return nn.Sequential(OrderedDict(layers))


FILE = "fid-inception-v3.npz"
SIDE = 299
_PREFIX = "net.layers."


@lru_cache(maxsize=1)
def _network() -> nn.Sequential:
    network = inception_layers()
    arrays, _ = load_npz(model_path(FILE))
    network.load_state_dict({key.removeprefix(_PREFIX): torch.from_numpy(arrays[key]) for key in arrays})
    return network.eval()


def feature_map(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The last 8 × 8 map of a picture, (2048, 8, 8), whose mean over places is FID's feature.

    The picture is brought to 299 × 299, bilinear, without regard to its shape.
    """
    picture = torch.from_numpy(np.ascontiguousarray(rgb.transpose(2, 0, 1))[None]).float()
    small = F.interpolate(picture, size=(SIDE, SIDE), mode="bilinear", align_corners=False, antialias=True)
    with torch.inference_mode():
        return np.asarray(_network()[:-1]((small - 128) / 128)[0].numpy())
