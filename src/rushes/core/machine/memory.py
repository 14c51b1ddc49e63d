"""How much memory there is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


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
