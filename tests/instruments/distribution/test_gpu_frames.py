"""Frames onto a GPU by its driver, with a stand-in for the driver whose GPU is the host's memory."""

from __future__ import annotations

import ctypes
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from rushes.core.errors import InputError
from rushes.core.machine import cuda_driver
from rushes.core.machine.cuda_driver import CudaDriver
from rushes.instruments.distribution.clips import device_windows
from rushes.instruments.distribution.clips.device_windows import DeviceWindows
from rushes.instruments.distribution.clips.frame_slots import SLOTS, InSlot, SlotWriter, new_slots
from rushes.instruments.distribution.clips.gpu_frames import GpuBytes, GpuFrames, GpuMemory
from rushes.instruments.distribution.clips.raw_frames import RawFrames

FRAME = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)


class HostDriver:
    """Does what `CudaDriver` does, in the host's memory; copies on the stream wait for `wait`."""

    stream = 7

    def __init__(self, *, pins: bool = True) -> None:
        self.pins, self.pinned, self.room = pins, [], 10**9
        self._held: dict[int, np.ndarray] = {}
        self._later: list[tuple[int, int, int]] = []

    def free_memory(self) -> int:
        return self.room

    def allocate(self, size: int) -> int:
        held = np.full(size, 99, np.uint8)
        self._held[held.ctypes.data] = held
        return held.ctypes.data

    def free(self, address: int) -> None:
        del self._held[address]

    def clear(self, address: int, size: int) -> None:
        ctypes.memset(address, 0, size)

    def pin(self, address: int, size: int) -> bool:
        self.pinned += [address] if self.pins else []
        return self.pins

    def unpin(self, address: int) -> None:
        self.pinned.remove(address)

    def copy_in(self, there: int, here: int, size: int) -> None:
        self.wait()
        ctypes.memmove(there, here, size)

    def copy_in_later(self, there: int, here: int, size: int) -> None:
        self._later.append((there, here, size))

    copy_out_later = copy_in_later

    def wait(self) -> None:
        for there, here, size in self._later:
            ctypes.memmove(there, here, size)
        self._later = []


def opened(driver: HostDriver) -> GpuFrames:
    return GpuFrames(driver)  # type: ignore[arg-type]


def on_gpu(frames: RawFrames) -> np.ndarray:
    """What lies there, read as another library would."""
    (held,) = frames.values.args  # type: ignore[attr-defined]
    assert isinstance(held, GpuBytes)
    told = held.__cuda_array_interface__
    address, shape = told["data"][0], told["shape"]  # type: ignore[index]
    assert told["typestr"] == "|u1" and not told["data"][1]  # type: ignore[index]
    size = shape[0] * shape[1]  # type: ignore[index]
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8).reshape(shape).copy()


def writer_of(slots: int = SLOTS + 1) -> SlotWriter:
    made = new_slots(slots, slot_bytes=100)
    assert made is not None
    return made


def named(writer: SlotWriter, value: int) -> InSlot:
    """A slot with two frames of this value."""
    found = [place for _ in range(2) for place in writer.put(np.full((3, 4, 3), value, np.uint8))]
    (place,) = found
    assert isinstance(place, InSlot)
    return place


def is_free(writer: SlotWriter, place: InSlot) -> bool:
    return bool(writer._memory[place.slot] == 0)


def test_a_slot_is_free_once_its_frames_are_on_the_gpu() -> None:
    """At once while it is not pinned; from the second slot of a process on, when the copy has been made."""
    driver, writer = HostDriver(), writer_of()
    with opened(driver) as gpu:
        place = named(writer, 4)
        frames = gpu(place)
        assert is_free(writer, place) and not driver.pinned
        assert (on_gpu(frames) == 4).all() and (frames.count, frames.height, frames.width) == (2, 3, 4)
        place = named(writer, 5)
        frames = gpu(place)
        assert driver.pinned and not is_free(writer, place) and frames.stream == 7
        driver.wait()
        assert is_free(writer, place) and (on_gpu(frames) == 5).all()
    assert not driver.pinned


def test_slots_past_the_first_are_never_pinned() -> None:
    driver, writer = HostDriver(), writer_of()
    with opened(driver) as gpu:
        places = [named(writer, value) for value in range(SLOTS + 1)]
        held = [gpu(place) for place in places]
        driver.wait()
        assert all(is_free(writer, place) for place in places)
        assert [int(on_gpu(frames).mean()) for frames in held] == list(range(SLOTS + 1))


def test_where_pinning_is_refused_frames_arrive_all_the_same() -> None:
    driver, writer = HostDriver(pins=False), writer_of()
    with opened(driver) as gpu:
        for value in range(6):
            place = named(writer, value)
            frames = gpu(place)
            assert is_free(writer, place) and (on_gpu(frames) == value).all()


def test_frames_in_a_message_are_copied_too() -> None:
    with opened(HostDriver()) as gpu:
        frames = gpu(np.stack([FRAME, FRAME + 1]))
        assert (on_gpu(frames) == np.stack([FRAME, FRAME + 1]).reshape(2, 36)).all()
        assert frames.form == (3, 4, None) and frames.count == 2


def test_blocks_are_used_again_and_all_memory_goes_back() -> None:
    driver = HostDriver()
    memory = GpuMemory(driver)  # type: ignore[arg-type]
    first = memory.take(1000)
    second = memory.take(70_000)
    assert (first.size, second.size) == (1 << 16, 2 << 16) and first.address != second.address
    address = first.address
    del first
    assert memory.take(10).address == address  # let go of at once, and taken again
    held = [memory.take(10) for _ in range(9)]
    assert len({block.address for block in held}) == 9 and len(driver._held) < 8  # more at a time as they are wanted
    memory.close()
    assert not driver._held


def test_a_full_gpu_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = HostDriver()
    with opened(driver) as gpu:
        monkeypatch.setattr(driver, "allocate", Mock(side_effect=MemoryError))
        with pytest.raises(InputError, match="the GPU has no memory left for frames"):
            gpu(np.zeros((1, 600, 600, 3), np.uint8))


def test_without_a_driver_frames_go_by_way_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(cuda_driver.ctypes, "CDLL", missing)
    monkeypatch.setattr(device_windows, "_current_gpu", lambda: 0)
    with pytest.raises(OSError, match="libcuda"):
        CudaDriver()
    upload = DeviceWindows(None, "cuda")._upload()  # type: ignore[arg-type]
    assert isinstance(upload, device_windows._ToHost)


def test_a_call_that_is_refused_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    library = type(
        "Library", (), {"cuInit": staticmethod(lambda flags: 0), "cuDeviceGet": staticmethod(lambda *a: 100)}
    )
    monkeypatch.setattr(cuda_driver.ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(cuda_driver.ctypes, "PyDLL", lambda name: library)
    with pytest.raises(OSError, match=r"refused cuDeviceGet \(error 100\)"):
        CudaDriver()
    library.cuDeviceGet = staticmethod(lambda *a: 2)  # type: ignore[attr-defined]
    with pytest.raises(MemoryError):
        CudaDriver()
