"""TensorFlow's "SAME" padding: how many zeros go before and after each axis, decided by the input's size.

Formula     out = ceil(size / stride);  total = max((out − 1)·stride + kernel − size, 0);  before = total // 2
Reference   TensorFlow's convolution notes; the padding I3D was trained with.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

Triple = tuple[int, int, int]


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Zeros (before, after) along one axis.

    >>> same_padding(224, 7, 2), same_padding(17, 7, 2), same_padding(112, 3, 2), same_padding(8, 1, 1)
    ((2, 3), (3, 3), (0, 1), (0, 0))
    """
    out = -(-size // stride)
    total = max((out - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def pad_same(x: torch.Tensor, kernel: Triple, stride: Triple) -> torch.Tensor:
    """`x` (N, C, T, H, W) with the zeros its convolution or pool needs; `x` itself where it needs none."""
    sizes = x.shape[2:]
    pads = [same_padding(s, k, d) for s, k, d in zip(sizes, kernel, stride, strict=True)]
    flat = [zeros for pair in reversed(pads) for zeros in pair]
    return F.pad(x, flat) if any(flat) else x
