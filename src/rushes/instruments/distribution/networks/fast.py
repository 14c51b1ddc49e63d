"""The quick path's frame: the same features as a plain network, rearranged. Each backbone's file has its own trunk.

Batch norm is folded, the first convolution runs on space-to-depth. The operations are plain torch on a CPU and Triton
kernels on a GPU (`rushes.instruments.distribution.networks.kernels`), with the plain ones as their tested reference.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from rushes.instruments.distribution.networks.folding import (
    Folded,
    Triple,
    deep_size,
    deepen,
    same_padding,
    space_to_depth,
)
from rushes.instruments.distribution.networks.operations import Pads, PlainOperations


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


def window_means(x: torch.Tensor, window: Triple) -> torch.Tensor:
    """Average pool with stride 1 over (N, T, H, W, C); one window over everything is a plain mean, and quicker."""
    if x.dtype == torch.float16:
        x = x.float()
    if tuple(x.shape[1:4]) == window:
        return x.mean(dim=(1, 2, 3), keepdim=True)
    return F.avg_pool3d(x.permute(0, 4, 1, 2, 3), window, stride=1).permute(0, 2, 3, 4, 1)
