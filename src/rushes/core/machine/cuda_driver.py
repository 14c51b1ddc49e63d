"""NVIDIA's driver by itself: memory of a GPU, and copies to it, before torch is loaded, which takes seconds.

The context is the GPU's primary one, which torch takes over. Calls that wait let other threads run meanwhile. Those
that only hand work to the GPU keep Python's lock, since a thread that lets go of it while another imports waits for it
5 ms.

Reference   CUDA Driver API (libcuda).
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p

_LIBRARY = "libcuda.so.1"
_NON_BLOCKING = 1
"""A stream that the default stream does not wait for."""
_OUT_OF_MEMORY = 2


class CudaDriver:
    """One GPU, for the thread that makes this and no other; `OSError` where there is no driver, or it refuses."""

    def __init__(self, number: int = 0) -> None:
        self._waiting, self._quick = ctypes.CDLL(_LIBRARY), ctypes.PyDLL(_LIBRARY)
        self._call(self._waiting, "cuInit", c_uint(0))
        device = c_int()
        self._call(self._waiting, "cuDeviceGet", byref(device), c_int(number))
        context = c_void_p()
        self._call(self._waiting, "cuDevicePrimaryCtxRetain", byref(context), device)
        self._call(self._waiting, "cuCtxSetCurrent", context)
        stream = c_void_p()
        self._call(self._waiting, "cuStreamCreate", byref(stream), c_uint(_NON_BLOCKING))
        self.stream = int(stream.value or 0)
        """The stream that copies are made on, as other libraries take it."""

    @staticmethod
    def _call(library: ctypes.CDLL, name: str, *arguments: object) -> None:
        if code := getattr(library, name)(*arguments):
            kind = MemoryError if code == _OUT_OF_MEMORY else OSError
            raise kind(f"the GPU's driver refused {name} (error {code})")

    def free_memory(self) -> int:
        """Bytes of the GPU's memory that nobody uses."""
        free, total = c_size_t(), c_size_t()
        self._call(self._quick, "cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def allocate(self, size: int) -> int:
        """The address of so many bytes; `MemoryError` where there is no room."""
        address = c_uint64()
        self._call(self._waiting, "cuMemAlloc_v2", byref(address), c_size_t(size))
        return address.value

    def free(self, address: int) -> None:
        """Give memory back; waits for what the GPU does."""
        self._call(self._waiting, "cuMemFree_v2", c_uint64(address))

    def clear(self, address: int, size: int) -> None:
        """Zeros there."""
        self._call(self._waiting, "cuMemsetD8_v2", c_uint64(address), c_ubyte(0), c_size_t(size))

    def pin(self, address: int, size: int) -> bool:
        """Let the GPU read this memory of the host in its own time; False where that is refused (it is limited)."""
        return not self._waiting.cuMemHostRegister_v2(c_void_p(address), c_size_t(size), c_uint(0))

    def unpin(self, address: int) -> None:
        self._call(self._waiting, "cuMemHostUnregister", c_void_p(address))

    def copy_in(self, there: int, here: int, size: int) -> None:
        """From the host to the GPU, on the stream; it is there afterwards."""
        arguments = c_uint64(there), c_void_p(here), c_size_t(size), c_void_p(self.stream)
        self._call(self._waiting, "cuMemcpyHtoDAsync_v2", *arguments)
        self.wait()

    def copy_in_later(self, there: int, here: int, size: int) -> None:
        """The same from pinned memory, on the stream: the host's memory is read later."""
        arguments = c_uint64(there), c_void_p(here), c_size_t(size), c_void_p(self.stream)
        self._call(self._quick, "cuMemcpyHtoDAsync_v2", *arguments)

    def copy_out_later(self, here: int, there: int, size: int) -> None:
        """From the GPU into pinned memory of the host, on the stream."""
        arguments = c_void_p(here), c_uint64(there), c_size_t(size), c_void_p(self.stream)
        self._call(self._quick, "cuMemcpyDtoHAsync_v2", *arguments)

    def wait(self) -> None:
        """Until the stream is done."""
        self._call(self._waiting, "cuStreamSynchronize", c_void_p(self.stream))
