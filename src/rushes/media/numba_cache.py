"""Inner loops compiled by numba, which is loaded only when the first of them is used."""

from __future__ import annotations

import ctypes
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


def c_function(function: Callable[..., None], arguments: str) -> Callable[[], Any]:
    """What gives the function compiled with C's calling convention, for addresses and whole numbers as they are.

    `arguments` are their types, "uint8* int64". The function's module has a global `carray`, which becomes numba's. A
    call takes a microsecond, where one with a dozen arrays takes ten; nothing is checked on the way.
    """

    @cache
    def load() -> Any:
        numba = load_numba()
        function.__globals__["carray"] = numba.carray
        kinds = [(getattr(numba, kind.rstrip("*")), kind.endswith("*")) for kind in arguments.split()]
        signature = numba.void(*(numba.types.CPointer(kind) if pointer else kind for kind, pointer in kinds))
        options: dict[str, Any] = {"boundscheck": False, "error_model": "numpy"}
        try:
            made = numba.cfunc(signature, cache=True, **options)(function)
        except RuntimeError:  # numba found no folder to keep the code in
            made = numba.cfunc(signature, **options)(function)
        of_c = [ctypes.c_void_p if pointer else ctypes.c_int64 for _, pointer in kinds]
        call = ctypes.CFUNCTYPE(None, *of_c)(made.address)
        call.made = made  # type: ignore[attr-defined]  # the code lives as long as this
        return call

    return load


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
