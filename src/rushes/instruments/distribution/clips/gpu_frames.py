"""Frames from the slots of decoding processes into a GPU's memory, by its driver: also while torch is being loaded.

So a slot is free again after a few milliseconds, and processes fill the same memory over and over. Without this they
would run ahead into fresh memory, gigabytes of it, which the system clears for them page by page and another process
copies, on the cores that load torch. The first slots of a process are pinned once it has filled a few: then the GPU
copies them in its own time and marks each free after the copy.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import InputError
from rushes.core.machine.cuda_driver import CudaDriver
from rushes.core.words.options import option
from rushes.instruments.distribution.clips.frame_slots import HEAD_BYTES, SLOT_BYTES, SLOTS, InSlot, SlotReader
from rushes.instruments.distribution.clips.raw_frames import RawFrames

if TYPE_CHECKING:
    import torch

_WORTH_PINNING = 2
"""Slots of one process after which its first ones are pinned."""
_UNIT, _CHUNK = 1 << 16, 256 << 20
"""Sizes of blocks are multiples of the first; so many bytes of one size are taken from the GPU together at most."""


class GpuFrames(ExitStack):
    """Takes frames to a GPU. Made, called and closed in one thread; what it gives may be let go of in any."""

    def __init__(self, driver: CudaDriver) -> None:
        super().__init__()
        self._driver, self._slots = driver, SlotReader()
        self._memory = GpuMemory(driver)
        self.callback(self._memory.close)
        self._zero = self._memory.take(1)
        driver.clear(self._zero.address, 1)
        self._heard: Counter[str] = Counter()
        self._pinned: dict[str, int] = {}
        self.callback(self._unpin)

    def free_memory(self) -> int:
        """Bytes of the GPU's memory that nobody uses."""
        return self._driver.free_memory()

    def __call__(self, payload: NDArray[Any] | InSlot) -> RawFrames:
        """The frames on the GPU, or soon there; their slot is free again, now or after the copy."""
        if isinstance(payload, np.ndarray):
            block = self._memory.take(payload.nbytes)
            self._driver.copy_in(block.address, payload.ctypes.data, payload.nbytes)
            return self._frames(block, payload.shape[:3], None, payload.nbytes)
        block = self._memory.take(payload.nbytes)
        memory = self._slots.memory(payload)
        start = memory.ctypes.data
        if payload.slot < SLOTS and self._is_pinned(payload, start, memory.nbytes):
            self._driver.copy_in_later(block.address, start + payload.start, payload.nbytes)
            # the GPU itself marks the slot free, after the copy before it
            self._driver.copy_out_later(start + payload.slot, self._zero.address, 1)
        else:
            self._driver.copy_in(block.address, start + payload.start, payload.nbytes)
            self._slots.free(payload, keep=payload.slot < SLOTS)
        form = payload.count, payload.height, payload.width
        return self._frames(block, form, payload.factors, payload.nbytes)

    def _frames(self, block: Block, form: tuple[int, ...], factors: Any, size: int) -> RawFrames:
        count, height, width = form
        values = partial(_tensor, GpuBytes(block, (count, size // count)))
        return RawFrames(count, height, width, factors, values, self._driver.stream)

    def _is_pinned(self, place: InSlot, start: int, size: int) -> bool:
        """Whether the process's first slots are; pins them where it is time to. Where that is refused, so be it."""
        self._heard[place.file] += 1
        if self._heard[place.file] == _WORTH_PINNING:
            if self._driver.pin(start, min(size, HEAD_BYTES + SLOTS * SLOT_BYTES)):
                self._pinned[place.file] = start
        return place.file in self._pinned

    def _unpin(self) -> None:
        self._driver.wait()
        for start in self._pinned.values():
            self._driver.unpin(start)


class GpuMemory:
    """Blocks of a GPU's memory, used again once they are let go of.

    A block may be let go of only when nothing reads it any more, as after the results of what read it are there.
    """

    def __init__(self, driver: CudaDriver) -> None:
        self._driver = driver
        self._free: dict[int, list[int]] = {}
        self._chunks: list[int] = []
        self._made: Counter[int] = Counter()

    def take(self, size: int) -> Block:
        """A block of so many bytes or more."""
        size = -(-size // _UNIT) * _UNIT
        free = self._free.setdefault(size, [])
        try:
            address = free.pop()
        except IndexError:
            address = self._more(size)
        return Block(self, size, address)

    def _more(self, size: int) -> int:
        """New blocks of a size, twice as many each time: one of them; the others are free."""
        count = max(min(self._made[size] or 1, _CHUNK // size), 1)
        try:
            first = self._driver.allocate(count * size)
        except MemoryError:
            cpu = option("--device cpu", 'device="cpu"')
            raise InputError(f"the GPU has no memory left for frames; end what else uses it, or use {cpu}") from None
        self._chunks.append(first)
        self._made[size] += count
        self._free[size] += [first + number * size for number in range(1, count)]
        return first

    def give_back(self, size: int, address: int) -> None:
        self._free[size].append(address)

    def close(self) -> None:
        """Give everything back to the GPU, blocks that somebody holds too."""
        while self._chunks:
            self._driver.free(self._chunks.pop())


class Block:
    """Memory of a GPU; goes back when nobody holds this any more."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self, memory: GpuMemory, size: int, address: int) -> None:
        self._memory, self.size, self.address = memory, size, address

    def __del__(self) -> None:
        self._memory.give_back(self.size, self.address)


@dataclass(frozen=True, slots=True, eq=False)
class GpuBytes:
    """Bytes in a block, as other libraries take them over: they hold on to the block meanwhile."""

    block: Block
    shape: tuple[int, int]

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {"shape": self.shape, "typestr": "|u1", "data": (self.block.address, False), "version": 3}


def _tensor(held: GpuBytes) -> torch.Tensor:
    import torch

    return torch.as_tensor(held, device="cuda")
