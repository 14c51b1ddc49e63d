"""Work whose import leaves a thread behind: a process with two must not be copied."""

from __future__ import annotations

import os
import sys
import threading
import time

if "rushes.workers.child" in " ".join(sys.orig_argv):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def parent(_: int) -> int:
    return os.getppid()
