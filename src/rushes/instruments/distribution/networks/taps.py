"""Resizing along one axis by a table of taps, on any device: a Triton kernel on a GPU, plain torch elsewhere."""

# mypy: disable-error-code="attr-defined,no-untyped-def,no-untyped-call,untyped-decorator,misc"
from __future__ import annotations

import torch

from rushes.instruments.distribution.networks.kernels import HAVE_TRITON, launch, tl, triton

_BLOCK = 1024


@triton.jit
def taps_kernel(
    x, out, start, weight, size, width, inner,
    TAPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """out[r, o, i] = Σ_k weight[o, k] · x[r, start[o] + k, i] in double precision; past the end the last one stands in.

    One program makes BLOCK numbers of one r.
    """
    row = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = place < width * inner
    o = place // inner
    i = place % inner
    first = tl.load(start + o, mask=ok, other=0)
    total = tl.zeros((BLOCK,), tl.float64)
    for k in range(TAPS):
        at = tl.minimum(first + k, size - 1) * inner + i
        value = tl.load(x + row * size * inner + at, mask=ok, other=0)
        total += value.to(tl.float64) * tl.load(weight + o * TAPS + k, mask=ok, other=0.0)
    tl.store(out + row * width * inner + place, total.to(tl.float32), mask=ok)


def apply_taps(x: torch.Tensor, start: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(n, size, inner) of any kind to (n, out, inner) float32; `start` (out,), `weight` (out, taps) in double."""
    return kernel_taps(x, start, weight) if HAVE_TRITON and x.is_cuda else plain_taps(x, start, weight)


def kernel_taps(x: torch.Tensor, start: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """By the kernel."""
    x = x.contiguous()
    rows, size, inner = x.shape
    width, taps = weight.shape
    out = torch.empty((rows, width, inner), device=x.device, dtype=torch.float32)
    grid = (rows, triton.cdiv(width * inner, _BLOCK))
    launch(taps_kernel, grid, x, out, start, weight, size, width, inner, TAPS=taps, BLOCK=_BLOCK, num_warps=4)
    return out


def plain_taps(x: torch.Tensor, start: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The reference: the taps of every output side by side, times their weights, summed."""
    place = (start[:, None] + torch.arange(weight.shape[1], device=start.device)).clamp_(max=x.shape[1] - 1)
    taken = x.index_select(1, place.flatten()).view(x.shape[0], *weight.shape, x.shape[2])
    return torch.sum(taken * weight[None, :, :, None], dim=2).float()
