"""AlexNet and VGG16 up to their last convolution, as lists of layers: what LPIPS and DISTS read.

A stage is a max pool (or none) and convolutions, each with a ReLU after it; what a stage gives is compared. The layers
and their order are torchvision's. LPIPS adds how pictures are scaled, and what each layer's difference counts for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Span: TypeAlias = Literal["-1..1", "0..1"]
"""What 0 and 255 become before they are scaled. LPIPS was trained with the first; some code feeds it the second."""

SHIFT = (-0.030, -0.088, -0.188)
SCALE = (0.458, 0.448, 0.450)
"""Per channel: (value − SHIFT) / SCALE goes into the network."""
EPS = 1e-10
"""Added to the length of a pixel's features before they are divided by it."""


def scaling(span: Span) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Factor and offset, per channel, that take eight-bit values to what the network is given."""
    factor, offset = (2.0 / 255.0, -1.0) if span == "-1..1" else (1.0 / 255.0, 0.0)
    scale = np.array(SCALE)
    return (factor / scale).astype(np.float32), ((offset - np.array(SHIFT)) / scale).astype(np.float32)


def spread_weights(small: int, large: int) -> NDArray[np.float64]:
    """What each of `small` rows counts for in the mean of the map that was enlarged to `large` rows.

    Bilinear, with pixel centres aligned and the border repeated (torch's `align_corners=False`): the mean over the
    enlarged map is this weighted mean of the small one, so that it is never made.

    >>> [float(weight) for weight in spread_weights(2, 4)]
    [0.5, 0.5]
    """
    at = np.maximum((np.arange(large) + 0.5) * small / large - 0.5, 0.0)
    lower = np.minimum(at.astype(np.int64), small - 1)
    upper = np.minimum(lower + 1, small - 1)
    weights = np.zeros(small)
    np.add.at(weights, lower, 1.0 - (at - lower))
    np.add.at(weights, upper, at - lower)
    return weights / large


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution with zero padding, then a ReLU."""

    inputs: int
    outputs: int
    kernel: int = 3
    stride: int = 1
    pad: int = 1

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of its weights, as torch keeps them."""
        return self.outputs, self.inputs, self.kernel, self.kernel

    def size(self, before: int) -> int:
        """Rows (or columns) that it makes of so many."""
        return (before + 2 * self.pad - self.kernel) // self.stride + 1


@dataclass(frozen=True, slots=True)
class Stage:
    """`pool` is the side of the max pool's window, with a step of 2; 0: no pool."""

    pool: int
    convs: tuple[Conv, ...]

    def size(self, before: int) -> int:
        after = (before - self.pool) // 2 + 1 if self.pool else before
        for conv in self.convs:
            after = conv.size(after)
        return after


@dataclass(frozen=True)
class Trunk:
    """A network to its last convolution."""

    name: str
    stages: tuple[Stage, ...]

    @cached_property
    def convs(self) -> tuple[Conv, ...]:
        return tuple(conv for stage in self.stages for conv in stage.convs)

    @cached_property
    def channels(self) -> tuple[int, ...]:
        """Of what each stage gives."""
        return tuple(stage.convs[-1].outputs for stage in self.stages)

    @cached_property
    def least(self) -> int:
        """Rows (and columns) that a picture needs for every stage to give something."""
        return next(size for size in range(1, 1000) if min(self.sizes(size)) > 0)

    def sizes(self, side: int) -> tuple[int, ...]:
        """Rows (or columns) of what each stage gives for a picture of so many."""
        found = []
        for stage in self.stages:
            side = stage.size(side)
            found.append(side)
        return tuple(found)


ALEXNET = Trunk(
    "alexnet",
    (
        Stage(0, (Conv(3, 64, kernel=11, stride=4, pad=2),)),
        Stage(3, (Conv(64, 192, kernel=5, pad=2),)),
        Stage(3, (Conv(192, 384),)),
        Stage(0, (Conv(384, 256),)),
        Stage(0, (Conv(256, 256),)),
    ),
)
VGG16 = Trunk(
    "vgg16",
    (
        Stage(0, (Conv(3, 64), Conv(64, 64))),
        Stage(2, (Conv(64, 128), Conv(128, 128))),
        Stage(2, (Conv(128, 256), Conv(256, 256), Conv(256, 256))),
        Stage(2, (Conv(256, 512), Conv(512, 512), Conv(512, 512))),
        Stage(2, (Conv(512, 512), Conv(512, 512), Conv(512, 512))),
    ),
)
