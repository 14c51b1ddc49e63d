"""A layer's distance per pixel in one walk over its features, in Triton; plain torch takes eight. And what follows a
convolution, bias and ReLU, in one walk in place of two."""

from __future__ import annotations

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # no GPU build of torch: the module still loads, its kernel does not run
    from rushes.vision import no_triton as tl
    from rushes.vision import no_triton as triton

_PIXELS = 16
_VALUES = 1024


@triton.jit  # type: ignore[untyped-decorator]
def _apart(features, head, out, half, channels, width: tl.constexpr, pixels: tl.constexpr):  # type: ignore[no-untyped-def]
    """Features are pixels × channels, the second side's `half` pixels after the first's."""
    at = tl.program_id(0).to(tl.int64) * pixels + tl.arange(0, pixels)
    channel = tl.arange(0, width)
    inside = (at < half)[:, None] & (channel < channels)[None, :]
    place = at[:, None] * channels + channel[None, :]
    a = tl.load(features + place, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(features + half * channels + place, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(head + channel, mask=channel < channels, other=0.0)
    a /= (tl.sqrt(tl.sum(a * a, 1)) + 1e-10)[:, None]
    b /= (tl.sqrt(tl.sum(b * b, 1)) + 1e-10)[:, None]
    step = a - b
    tl.store(out + at, tl.sum(step * step * w[None, :], 1), mask=at < half)


def apart(features: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
    """Distance per pixel (N × H × W) of the first half of a batch and the second; features lie channels last."""
    count, channels, height, width = features.shape
    half = count // 2 * height * width
    out = torch.empty((count // 2, height, width), device=features.device, dtype=torch.float32)
    flat = features.permute(0, 2, 3, 1).contiguous()
    _apart[(triton.cdiv(half, _PIXELS),)](
        flat, head.flatten(), out, half, channels, triton.next_power_of_2(channels), _PIXELS
    )
    return out


@triton.jit  # type: ignore[untyped-decorator]
def _biased_relu(values, bias, count, channels: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]
    """In place, over values whose channels lie side by side."""
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    found = tl.load(values + at, mask=inside, other=0.0).to(tl.float32) + tl.load(bias + at % channels)
    tl.store(values + at, tl.maximum(found, 0.0).to(values.dtype.element_ty), mask=inside)


def biased_relu(features: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """max(features + bias, 0) in the features' place, which lie channels last; the bias is of 32 bits."""
    features, count = features.contiguous(memory_format=torch.channels_last), features.numel()
    _biased_relu[(triton.cdiv(count, _VALUES),)](features, bias, count, features.shape[1], _VALUES)
    return features
