"""Pairs of pictures to values on a GPU: batches are copied and launched while the next one is read.

Everything is launched from the caller's thread: cuDNN keeps what it prepared by thread.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import torch

from rushes.errors import InputError
from rushes.fidelity.networks.batches import Pixels, Values
from rushes.fidelity.networks.plain import PlainNetwork

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
