"""Work in a module whose import ends a worker, as often as the file named in BAD_START says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if "rushes.workers.child" in " ".join(sys.orig_argv):
    left = Path(os.environ["BAD_START"])
    times = int(left.read_text())
    left.write_text(str(times - 1))
    if times > 0:
        os._exit(3)


def double(n: int) -> int:
    return 2 * n
