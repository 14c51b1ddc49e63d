"""Pairs of pictures to values on a CPU, in batches that are bounded by pixels, several at a time.

How many pairs a batch has depends on their size alone, and a batch runs on one thread: values are the same for any
number of threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from rushes.core.errors import InputError

Pixels: TypeAlias = NDArray[np.uint8]
Values: TypeAlias = NDArray[np.float64]
Forward: TypeAlias = Callable[[Pixels, Pixels], Values]
"""N pairs of pictures (N × H × W × 3, eight bits) to N rows of values."""


class Batches:
    """Gives pairs of pictures of one size to a network; `finish` has a row per pair, in their order."""

    def __init__(self, forward: Forward, *, size: tuple[int, int], pixels: int, threads: int = 1) -> None:
        width, height = size
        self._forward, self._most = forward, max(pixels // (width * height), 1)
        self._shape = (height, width, 3)
        self._gen, self._gt = self._empty(), self._empty()
        self._filled = 0
        self._waiting: deque[Future[Values]] = deque()
        self._done: list[Values] = []
        self._threads = threads
        self._torch_threads = torch.get_num_threads()
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def add(self, gen: Pixels, gt: Pixels) -> None:
        self._gen[self._filled], self._gt[self._filled] = gen, gt
        self._filled += 1
        if self._filled == self._most:
            self._hand_over()

    def finish(self) -> Values:
        """Every value; nothing may be added after it."""
        try:
            if self._filled:
                self._hand_over()
            while self._waiting:
                self._done.append(self._waiting.popleft().result())
        finally:
            self.close()
        return np.concatenate(self._done) if self._done else np.empty((0, 0))

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        torch.set_num_threads(self._torch_threads)

    def _hand_over(self) -> None:
        self._waiting.append(self._pool.submit(self._run, self._gen[: self._filled], self._gt[: self._filled]))
        self._gen, self._gt, self._filled = self._empty(), self._empty(), 0
        while len(self._waiting) > self._threads + 1:  # one is read while the others run
            self._done.append(self._waiting.popleft().result())

    def _run(self, gen: Pixels, gt: Pixels) -> Values:
        try:
            return self._forward(gen, gt)
        except MemoryError:
            half = len(gen) // 2
            if not half:
                raise InputError(f"out of memory with one pair of pictures of {gen.shape[2]}×{gen.shape[1]}") from None
        return np.concatenate([self._run(gen[:half], gt[:half]), self._run(gen[half:], gt[half:])])

    def _empty(self) -> Pixels:
        return np.empty((self._most, *self._shape), np.uint8)
