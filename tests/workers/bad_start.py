"""Work whose import ends a worker: once for each file in the folder BAD_START, always where one is "always"."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

if "rushes.workers.child" in " ".join(sys.orig_argv):
    for file in Path(os.environ["BAD_START"]).iterdir():
        if file.name == "always":
            os._exit(3)
        with suppress(FileNotFoundError):  # another worker was quicker
            file.unlink()
            os._exit(3)


def double(n: int) -> int:
    return 2 * n
