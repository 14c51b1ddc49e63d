"""How much memory there is, and whether something failed because there was too little."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_OPENCV_NO_MEMORY = -4
_NOT_MAPPED = "failed to map segment from shared object"
"""What the loader says of a library that finds no room, as under `ulimit -v`."""


def machine_memory() -> int:
    """Bytes of memory of the machine, or of the container where that is less."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no container, or "max"
        return min(whole, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return whole


def available_memory() -> int:
    """Bytes of it that no process uses at this moment; all of it on a system that does not say."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return min(int(rest.split()[0]) * 1024, machine_memory())
    return machine_memory()


def address_limit() -> int | None:
    """Bytes of addresses this process may have (`ulimit -v`); None without a limit, or on a system that has none."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether this is Python's, OpenCV's or the loader's way of saying that memory ran out.

    >>> ran_out_of_memory(MemoryError()), ran_out_of_memory(ValueError("no memory"))
    (True, False)
    """
    if isinstance(error, ImportError):
        return _NOT_MAPPED in str(error)
    opencv = type(error).__module__ == "cv2" and getattr(error, "code", None) == _OPENCV_NO_MEMORY
    return opencv or isinstance(error, MemoryError)
