"""The algebra of the quick path: batch norm folded into weights, the first convolution rewritten by space-to-depth.

Nothing here changes a feature beyond rounding; each identity is tested in double precision against the plain form.

Padding is TensorFlow's "SAME", as I3D was trained with: how many zeros go before and after each axis is decided by the
input's size. out = ceil(size / stride);  total = max((out − 1)·stride + kernel − size, 0);  before = total // 2
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
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


@dataclass(frozen=True)
class Folded:
    """A convolution with its bias, ready to run on clips laid out (N, T, H, W, C)."""

    weight: torch.Tensor
    """(out, in, kt, kh, kw)."""
    bias: torch.Tensor
    stride: Triple = (1, 1, 1)
    relu: bool = True

    @property
    def kernel(self) -> Triple:
        t, h, w = self.weight.shape[2:]
        return t, h, w

    @property
    def rows(self) -> torch.Tensor:
        """The weight as a matrix (out, kt·kh·kw·in), the order in which a channels-last clip is read."""
        return self.weight.permute(0, 2, 3, 4, 1).reshape(self.weight.shape[0], -1).contiguous()


def fold(conv: nn.Conv3d, norm: nn.BatchNorm3d | None, *, relu: bool = True) -> Folded:
    """One convolution equal to `conv` followed by `norm` in evaluation mode.

    Formula     w' = w·γ/√(σ² + ε);  b' = β − μ·γ/√(σ² + ε);  in float64, then rounded once.
    """
    weight = conv.weight.detach()
    stride = (int(conv.stride[0]), int(conv.stride[1]), int(conv.stride[2]))
    if norm is None:
        bias = torch.zeros(weight.shape[0]) if conv.bias is None else conv.bias.detach()
        return Folded(weight, bias, stride, relu)
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("batch norm has no running statistics to fold")
    scale = norm.weight.detach().double() / torch.sqrt(norm.running_var.double() + norm.eps)
    bias = norm.bias.detach().double() - norm.running_mean.double() * scale
    folded = (weight.double() * scale.reshape(-1, 1, 1, 1, 1)).to(weight.dtype)
    return Folded(folded, bias.to(weight.dtype), stride, relu)


def merge(*parts: Folded) -> Folded:
    """1×1×1 convolutions over the same input as one, outputs side by side."""
    weight, bias = torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts])
    return Folded(weight, bias, parts[0].stride, parts[0].relu)


def space_to_depth(x: torch.Tensor, block: Triple) -> torch.Tensor:
    """(N, T, H, W, C) to (N, T/bt, H/bh, W/bw, bt·bh·bw·C): each block of pixels becomes channels."""
    n, t, h, w, c = x.shape
    bt, bh, bw = block
    x = x.reshape(n, t // bt, bt, h // bh, bh, w // bw, bw, c)
    return x.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(n, t // bt, h // bh, w // bw, bt * bh * bw * c)


def deepen(stem: Folded, *, multiple: int = 1) -> Folded:
    """A strided convolution as a stride-1 convolution over `space_to_depth` of its padded input.

    A 7³ kernel with stride 2 on 3 channels gains one plane of zeros on each axis, and becomes 4³ on 24 channels.
    `multiple` adds channels of zeros up to a multiple of it, for the alignment a GPU wants.
    """
    out, inputs, *kernel = stem.weight.shape
    even = [-(-k // s) * s for k, s in zip(kernel, stem.stride, strict=True)]
    grow = [zeros for k, e in reversed(list(zip(kernel, even, strict=True))) for zeros in (0, e - k)]
    weight = F.pad(stem.weight, grow).permute(0, 2, 3, 4, 1)  # out, kt, kh, kw, in: as a clip is laid out
    weight = space_to_depth(weight, stem.stride)
    weight = F.pad(weight, [0, -weight.shape[-1] % multiple]).permute(0, 4, 1, 2, 3).contiguous()
    return Folded(weight, stem.bias, (1, 1, 1), stem.relu)


def deep_size(size: int, kernel: int, stride: int, before: int, after: int) -> tuple[int, int]:
    """(outputs, padded size) along one axis: the padded input `deepen`'s convolution needs, a multiple of stride.

    >>> deep_size(224, 7, 2, 2, 3), deep_size(17, 7, 2, 3, 3), deep_size(16, 7, 1, 3, 3)
    ((112, 230), (9, 24), (16, 22))
    """
    outputs = (size + before + after - kernel) // stride + 1
    return outputs, (outputs - 1 + -(-kernel // stride)) * stride


def round_tf32(x: torch.Tensor) -> torch.Tensor:
    """float32 rounded to nearest with 10 bits of fraction, as the matrix units read it (they would cut bits off)."""
    return ((x.contiguous().view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
