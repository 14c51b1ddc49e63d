"""From decoded frames to what the first convolution reads, on the GPU: resize, normalise, pad, space-to-depth.

A resizer is a table per axis: for each output pixel, where its taps start and their weights. The width is resized
first, as PIL does; the height in the kernel that writes the result.
"""

# mypy: disable-error-code="attr-defined,no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

from dataclasses import dataclass

import torch

from rushes.distribution.networks.folding import deep_size
from rushes.distribution.networks.kernels import _rounded, tl, triton
from rushes.distribution.networks.operations import Pads
from rushes.distribution.networks.same_padding import Triple


@dataclass(frozen=True)
class Taps:
    """One axis of a resizer on the device: `start` (out,) int32 and `weight` (out, taps) float32."""

    start: torch.Tensor
    weight: torch.Tensor

    @classmethod
    def identity(cls, size: int, device: torch.device | str) -> Taps:
        start = torch.arange(size, dtype=torch.int32, device=device)
        return cls(start, torch.ones(size, 1, device=device))


@triton.jit
def width_kernel(
    x, out, start, weight, ROWS, W, WO: tl.constexpr, C: tl.constexpr, TAPS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Resize along the width: rows (W, C) of any kind to rows (WO, C) of float32."""
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = place < WO * C
    column = place // C
    channel = place % C
    first = tl.load(start + column, mask=ok, other=0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(TAPS):
        source = tl.minimum(first + tap, W - 1)
        pixel = tl.load(x + row * W * C + source * C + channel, mask=ok, other=0).to(tl.float32)
        total += pixel * tl.load(weight + column * TAPS + tap, mask=ok, other=0.0)
    tl.store(out + row * WO * C + place, total, mask=ok)


@triton.jit
def deepen_kernel(
    x, out, start, weight, scale, offset, T, H, TD, HD, pt, ph, pw,
    WD: tl.constexpr, HO: tl.constexpr, WO: tl.constexpr, C: tl.constexpr, BT: tl.constexpr, BH: tl.constexpr,
    BW: tl.constexpr, DEEP: tl.constexpr, TAPS: tl.constexpr, ROUND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Resize along the height, value·scale + offset, zeros around, pixels of a block side by side as channels.

    DEEP is how many channels that makes, or more: those past the block's pixels are zeros.
    """
    row = tl.program_id(0)
    hd = row % HD
    td = (row // HD) % TD
    clip = row // (HD * TD)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    deep = place % DEEP
    channel = deep % C
    w = (place // DEEP) * BW + (deep // C) % BW - pw
    h = hd * BH + (deep // (C * BW)) % BH - ph
    t = td * BT + deep // (C * BW * BH) - pt
    ok = (
        (place < WD * DEEP) & (deep < BT * BH * BW * C) & (w >= 0) & (w < WO) & (h >= 0) & (h < HO) & (t >= 0) & (t < T)
    )
    first = tl.load(start + h, mask=ok, other=0)
    frame = (clip * T + t).to(tl.int64) * H
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(TAPS):
        source = tl.minimum(first + tap, H - 1)
        pixel = tl.load(x + (frame + source) * (WO * C) + w * C + channel, mask=ok, other=0.0).to(tl.float32)
        total += pixel * tl.load(weight + h * TAPS + tap, mask=ok, other=0.0)
    total = total * tl.load(scale + channel) + tl.load(offset + channel)
    total = tl.where(ok, total, 0.0)
    value = _rounded(total, ROUND).to(out.dtype.element_ty)
    tl.store(out + row.to(tl.int64) * (WD * DEEP) + place, value, mask=place < WD * DEEP)


def resize_width(x: torch.Tensor, taps: Taps) -> torch.Tensor:
    """(N, T, H, W, C) to (N, T, H, out, C) float32."""
    n, t, h, w, c = x.shape
    wide = taps.start.shape[0]
    out = torch.empty((n, t, h, wide, c), device=x.device, dtype=torch.float32)
    block = min(1024, triton.next_power_of_2(wide * c))
    grid = (n * t * h, triton.cdiv(wide * c, block))
    width_kernel[grid](
        x, out, taps.start, taps.weight, n * t * h, w, WO=wide, C=c, TAPS=taps.weight.shape[1], BLOCK=block, num_warps=4
    )
    return out


def deepen_clips(
    x: torch.Tensor,
    taps: Taps,
    *,
    scale: torch.Tensor,
    offset: torch.Tensor,
    kernel: Triple,
    stride: Triple,
    pads: Pads,
    dtype: torch.dtype,
    multiple: int = 1,
) -> torch.Tensor:
    """(N, T, H, W, C) to the padded space-to-depth form; the height is resized by `taps` on the way."""
    n, t, h, w, c = x.shape
    sizes = (t, taps.start.shape[0], w)
    deep = [deep_size(size, k, s, *pad)[1] // s for size, k, s, pad in zip(sizes, kernel, stride, pads, strict=True)]
    depth = triton.cdiv(stride[0] * stride[1] * stride[2] * c, multiple) * multiple
    out = torch.empty((n, *deep, depth), device=x.device, dtype=dtype)
    block = 1024
    grid = (n * deep[0] * deep[1], triton.cdiv(deep[2] * depth, block))
    deepen_kernel[grid](
        x, out, taps.start, taps.weight, scale, offset, t, h, deep[0], deep[1], *(before for before, _ in pads),
        WD=deep[2], HO=sizes[1], WO=w, C=c, BT=stride[0], BH=stride[1], BW=stride[2], DEEP=depth,
        TAPS=taps.weight.shape[1], ROUND=dtype == torch.float32, BLOCK=block, num_warps=4,
    )  # fmt: skip
    return out
