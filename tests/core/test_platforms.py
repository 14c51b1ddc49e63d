"""What differs between systems: memory that is freed and used again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
import numpy as np
from rushes.core.machine.platforms import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
np.ones(1 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    pair = np.ones(1 << 20), np.ones(1 << 20)
    del pair
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has mallopt")
def test_freed_memory_is_used_again_and_not_asked_for_anew():
    """20 × 2 arrays of 8 MB are 40 × 2048 pages of 4 KB; of memory that is kept each is filled once."""

    def faults(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    assert faults("keep") < 3 * 2048 < faults("as it is")
