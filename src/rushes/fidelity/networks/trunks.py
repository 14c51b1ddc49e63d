"""AlexNet and VGG16 up to their last convolution, as lists of layers: what LPIPS and DISTS read.

A stage is a max pool (or none) and convolutions, each with a ReLU after it; what a stage gives is compared. The layers
and their order are torchvision's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


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
