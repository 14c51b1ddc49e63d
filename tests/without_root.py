"""A test as root, of what only the mode of a file forbids: root's right to read and write everything is given up.

It is a capability of a thread (Linux), which can be laid down and taken up again.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION = 0x20080522
_OVERRIDE, _READ_SEARCH = 1, 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of <linux/capability.h>."""


@contextmanager
def files_as_others() -> Iterator[None]:
    """In this thread, and in those that it starts, the mode of a file says what may be done with it, as root too."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root may read and write everything")
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(_VERSION, 0)
    kept = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, twice 32 bits
    assert libc.capget(head, kept) == 0, os.strerror(ctypes.get_errno())
    fewer = (ctypes.c_uint32 * 6)(*kept)
    fewer[0] &= ~(1 << _OVERRIDE | 1 << _READ_SEARCH)
    assert libc.capset(head, fewer) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(head, kept) == 0, os.strerror(ctypes.get_errno())
