"""What the first convolution reads, on the GPU: clips with zeros around them, pixels of a block side by side."""

# mypy: disable-error-code="attr-defined,no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

import torch

from rushes.distribution.networks.folding import deep_size
from rushes.distribution.networks.kernels import _rounded, launch, tl, triton
from rushes.distribution.networks.operations import Pads
from rushes.distribution.networks.same_padding import Triple


@triton.jit
def deepen_kernel(
    x, out, T, H, TD, HD, pt, ph, pw,
    WD: tl.constexpr, W: tl.constexpr, C: tl.constexpr, BT: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr,
    DEEP: tl.constexpr, ROUND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Zeros around, pixels of a block side by side as channels.

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
    ok = (place < WD * DEEP) & (deep < BT * BH * BW * C) & (w >= 0) & (w < W) & (h >= 0) & (h < H) & (t >= 0) & (t < T)
    line = (clip * T + t).to(tl.int64) * H + h
    value = tl.load(x + line * (W * C) + w * C + channel, mask=ok, other=0.0).to(tl.float32)
    value = _rounded(value, ROUND).to(out.dtype.element_ty)
    tl.store(out + row.to(tl.int64) * (WD * DEEP) + place, value, mask=place < WD * DEEP)


def deepen_clips(
    x: torch.Tensor, *, kernel: Triple, stride: Triple, pads: Pads, dtype: torch.dtype, multiple: int = 1
) -> torch.Tensor:
    """(N, T, H, W, C) to the padded space-to-depth form."""
    n, t, h, w, c = x.shape
    sizes = (t, h, w)
    deep = [deep_size(size, k, s, *pad)[1] // s for size, k, s, pad in zip(sizes, kernel, stride, pads, strict=True)]
    depth = triton.cdiv(stride[0] * stride[1] * stride[2] * c, multiple) * multiple
    out = torch.empty((n, *deep, depth), device=x.device, dtype=dtype)
    block = 1024
    grid = (n * deep[0] * deep[1], triton.cdiv(deep[2] * depth, block))
    launch(
        deepen_kernel, grid, x, out, t, h, deep[0], deep[1], *(before for before, _ in pads),
        WD=deep[2], W=w, C=c, BT=stride[0], BH=stride[1], BW=stride[2], DEEP=depth, ROUND=dtype == torch.float32,
        BLOCK=block, num_warps=4,
    )  # fmt: skip
    return out
