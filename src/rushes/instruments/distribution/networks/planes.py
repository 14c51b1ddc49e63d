"""Frames stored as planes to RGB, on any device: a Triton kernel on a GPU, plain torch elsewhere; the same bytes."""

# mypy: disable-error-code="attr-defined,no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

import torch

from rushes.instruments.distribution.networks.kernels import HAVE_TRITON, launch, tl, triton
from rushes.media.yuv import YuvFactors, rgb_of_planes

_BLOCK = 1024


@triton.jit
def _byte(x):
    return tl.minimum(tl.maximum(x, 0), 255).to(tl.uint8)


@triton.jit
def rgb_kernel(
    stored, out, step, pixels, width, y_scale, y_offset, v_red, u_blue, u_green, v_green, BLOCK: tl.constexpr
):  # fmt: skip
    """`rgb_of_planes` of one block of pixels of one frame; a frame's Y, U and V lie one behind the other."""
    frame = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = place < pixels
    quarter = (place // width) // 2 * (width // 2) + (place % width) // 2
    first = stored + frame * step
    y = tl.load(first + place, mask=ok, other=0).to(tl.int32)
    u = 8 * tl.load(first + pixels + quarter, mask=ok, other=0).to(tl.int32) - 1024
    v = 8 * tl.load(first + pixels + pixels // 4 + quarter, mask=ok, other=0).to(tl.int32) - 1024
    light = (8 * y - y_offset) * y_scale >> 16
    target = out + frame * pixels * 3 + place * 3
    tl.store(target, _byte(light + (v * v_red >> 16)), mask=ok)
    tl.store(target + 1, _byte(light + ((u * u_green >> 16) + (v * v_green >> 16))), mask=ok)
    tl.store(target + 2, _byte(light + (u * u_blue >> 16)), mask=ok)


def planes_to_rgb(stored: torch.Tensor, height: int, width: int, factors: YuvFactors) -> torch.Tensor:
    """Frames (n, bytes) of Y, U and V, one behind the other, as RGB (n, H, W, 3) uint8; both sides are even."""
    return (kernel_rgb if HAVE_TRITON and stored.is_cuda else plain_rgb)(stored, height, width, factors)


def kernel_rgb(stored: torch.Tensor, height: int, width: int, factors: YuvFactors) -> torch.Tensor:
    """By the kernel, in one pass over memory; plain torch takes twenty."""
    stored, pixels = stored.contiguous(), height * width
    out = torch.empty((len(stored), height, width, 3), device=stored.device, dtype=torch.uint8)
    grid = (len(stored), triton.cdiv(pixels, _BLOCK))
    launch(rgb_kernel, grid, stored, out, stored.shape[1], pixels, width, *factors, BLOCK=_BLOCK, num_warps=4)
    return out


def plain_rgb(stored: torch.Tensor, height: int, width: int, factors: YuvFactors) -> torch.Tensor:
    """The reference: `rgb_of_planes` on whole planes."""
    pixels = height * width
    y = stored[:, :pixels].reshape(-1, height, width).int()
    u, v = (
        plane.reshape(-1, height // 2, width // 2).int().repeat_interleave(2, 1).repeat_interleave(2, 2)
        for plane in stored[:, pixels:].split(pixels // 4, dim=1)
    )
    return torch.stack([plane.to(torch.uint8) for plane in rgb_of_planes(y, u, v, factors)], dim=-1)
