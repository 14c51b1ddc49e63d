"""The network in plain torch, in batches: what a GPU runs, and a CPU whose torch has no oneDNN.

On a GPU batches are copied and launched while the next one is read, all from the caller's thread: cuDNN keeps what it
prepared by thread.

fp16 keeps weights and features in half precision and sums in single; the distance of two features is taken in single
precision whatever the network runs in.
"""

from __future__ import annotations

from collections import deque
from importlib.util import find_spec

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from rushes.core.errors import InputError
from rushes.instruments.fidelity.devices import Precision
from rushes.instruments.fidelity.networks.batches import Pixels, Values
from rushes.instruments.fidelity.networks.trunks import EPS, Conv, Span, scaling, spread_weights
from rushes.instruments.fidelity.networks.weights import LpipsWeights


class PlainNetwork:
    """LPIPS on a device of torch's: eight-bit pictures to distances."""

    def __init__(
        self,
        weights: LpipsWeights,
        *,
        span: Span,
        device: str,
        precision: Precision = "fp32",
    ) -> None:
        self._trunk, self.device, self._precision = weights.trunk, torch.device(device), precision
        self._triton = self.device.type == "cuda" and find_spec("triton") is not None
        self._dtype = torch.float16 if precision == "fp16" else torch.float32
        self._factor, self._offset = (torch.from_numpy(part).to(device)[:, None, None] for part in scaling(span))
        self._kernels = [
            torch.from_numpy(kernel).to(device, self._dtype).contiguous(memory_format=torch.channels_last)
            for kernel in weights.kernels
        ]
        kind = torch.float32 if self._triton else self._dtype
        self._biases = [torch.from_numpy(bias).to(device, kind) for bias in weights.biases]
        self._heads = [torch.from_numpy(head).to(device)[:, None, None] for head in weights.heads]

    def __call__(self, gen: NDArray[np.uint8], gt: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Of N pairs of pictures (N × H × W × 3), N × 2: the mean over each layer, and over each layer enlarged."""
        return self.on_device(torch.from_numpy(np.stack([gen, gt])).to(self.device)).cpu().numpy()

    def on_device(self, pictures: torch.Tensor) -> torch.Tensor:
        """The same for both sides in one tensor (2 × N × H × W × 3) on the network's device."""
        with torch.inference_mode(), _tf32(self._precision == "tf32"):
            return self._distances(pictures.flatten(0, 1).permute(0, 3, 1, 2))

    def _distances(self, pictures: torch.Tensor) -> torch.Tensor:
        height, width = pictures.shape[2:]
        at = (pictures * self._factor + self._offset).to(self._dtype)
        layers = zip(self._trunk.convs, self._kernels, self._biases, strict=True)
        plain = spread = torch.zeros(len(pictures) // 2, dtype=torch.float64, device=self.device)
        for stage, head in zip(self._trunk.stages, self._heads, strict=True):
            if stage.pool:
                at = F.max_pool2d(at, stage.pool, 2)
            for _ in stage.convs:
                conv, kernel, bias = next(layers)
                at = self._layer(at, kernel, bias, conv)
            apart = self._apart(at, head).double()
            down, across = (
                torch.from_numpy(spread_weights(small, large)).to(self.device)
                for small, large in zip(apart.shape[1:], (height, width), strict=True)
            )
            plain = plain + apart.mean((1, 2))
            spread = spread + torch.einsum("nyx,y,x->n", apart, down, across)
        return torch.stack([plain, spread], dim=1)

    def _layer(self, at: torch.Tensor, kernel: torch.Tensor, bias: torch.Tensor, conv: Conv) -> torch.Tensor:
        if self._triton:  # with the same bits in tf32 and fp32
            from rushes.instruments.fidelity.networks.gpu_heads import biased_relu

            return biased_relu(F.conv2d(at, kernel, None, conv.stride, conv.pad), bias)
        return F.conv2d(at, kernel, bias, conv.stride, conv.pad).relu_()  # cuDNN's fused form rounds more: 7e-5

    def _apart(self, features: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
        """Distance per pixel of the first half of the batch and the second."""
        if self._triton:
            from rushes.instruments.fidelity.networks.gpu_heads import apart

            return apart(features, head)
        one, other = (part / (part.square().sum(1, keepdim=True).sqrt() + EPS) for part in features.float().chunk(2))
        return ((one - other).square_() * head).sum(1)


class _tf32:
    """cuDNN with or without TF32, for a while."""

    def __init__(self, on: bool) -> None:
        self._on = on

    def __enter__(self) -> None:
        self._before = torch.backends.cudnn.allow_tf32
        torch.backends.cudnn.allow_tf32 = self._on

    def __exit__(self, *error: object) -> None:
        torch.backends.cudnn.allow_tf32 = self._before


_BUFFERS = 3
"""Batches that lie in the host's memory: one is filled while the others are copied."""


class DeviceBatches:
    """Gives pairs of pictures of one size to a network on a GPU; `finish` has a row per pair, in their order."""

    def __init__(self, network: PlainNetwork, *, size: tuple[int, int], pixels: int) -> None:
        width, height = size
        self._network, self._most = network, max(pixels // (width * height), 1)
        shape = (2, self._most, height, width, 3)
        # pinned: the GPU fetches from it by itself, ten times as fast
        self._free = deque(torch.empty(shape, dtype=torch.uint8, pin_memory=True) for _ in range(_BUFFERS))
        self._busy: deque[tuple[torch.Tensor, torch.cuda.Event]] = deque()
        self._now = self._free.popleft()
        self._view, self._filled = self._now.numpy(), 0
        self._done: list[torch.Tensor] = []

    def add(self, gen: Pixels, gt: Pixels) -> None:
        self._view[0, self._filled], self._view[1, self._filled] = gen, gt
        self._filled += 1
        if self._filled == self._most:
            self._launch()

    def finish(self) -> Values:
        """Every value; nothing may be added after it."""
        if self._filled:
            self._launch()
        found: Values = torch.cat(self._done).cpu().numpy() if self._done else np.empty((0, 0))
        return found

    def _launch(self) -> None:
        pictures = self._now[:, : self._filled].to(self._network.device, non_blocking=True)
        copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        copied.record()
        self._busy.append((self._now, copied))
        self._run(pictures)
        if not self._free:
            buffer, copied = self._busy.popleft()
            copied.synchronize()
            self._free.append(buffer)
        self._now = self._free.popleft()
        self._view, self._filled = self._now.numpy(), 0

    def _run(self, pictures: torch.Tensor) -> None:
        try:
            self._done.append(self._network.on_device(pictures))
        except torch.OutOfMemoryError:
            count = pictures.shape[1]
            if count == 1:
                size = f"{pictures.shape[3]}×{pictures.shape[2]}"
                raise InputError(f"out of memory with one pair of pictures of {size}; use the device cpu") from None
            self._run(pictures[:, : count // 2])
            self._run(pictures[:, count // 2 :])
