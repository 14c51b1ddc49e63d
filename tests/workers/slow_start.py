"""Work in a module that is slow to import, as torch on a busy machine is."""

from __future__ import annotations

import sys
import time

IMPORT_S = 2.5
if "rushes.workers.child" in " ".join(sys.orig_argv):  # in a worker; the tests themselves need not wait
    time.sleep(IMPORT_S)


def double(n: int) -> int:
    return 2 * n
