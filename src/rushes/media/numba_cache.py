"""Inner loops compiled by numba, which is loaded only when the first of them is used."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

_LINALG = "scipy.linalg"


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The function compiled, without bounds checks, and kept in numba's cache where there is a place for it.

    `options` are numba's own. On a system with nowhere to write, it is compiled again in each process.
    """
    numba = load_numba()
    try:
        return numba.njit(cache=True, boundscheck=False, **options)(function)
    except RuntimeError:  # numba found no folder to keep the code in
        return numba.njit(boundscheck=False, **options)(function)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[[], Any]:
    """What gives the function compiled (`options` as in `compiled`): at its first call, and from then on at once."""
    return cache(partial(compiled, function, **options))


def load_numba() -> Any:
    """numba, without scipy's linear algebra, which it imports only to see that it is there: 0.08 s of 0.38.

    A kernel that needs it, of another package, has it when it is compiled. Other threads might be importing scipy at
    this very moment, so with more than one numba does as it likes.
    """
    if "numba" in sys.modules or _LINALG in sys.modules or threading.active_count() > 1:
        import numba

        return numba
    sys.modules[_LINALG] = None  # type: ignore[assignment]
    try:
        import numba
        import numba.np.arraymath as arraymath
    finally:
        del sys.modules[_LINALG]
    arraymath._HAVE_BLAS = True
    return numba


def warm() -> None:
    """Load numba now: for a process that others are forked from."""
    load_numba()
