"""Loops over pixels and samples, in C: one library for all instruments, made when Rushes is built.

A call takes a microsecond and checks nothing: the Python beside it does, and passes addresses (`array.ctypes.data`) of
arrays that it keeps alive. Floating-point operations happen in the order in which they are written, and none are fused
but where it is written so (fused.h), so a sum is the same to the last bit on every processor (decision 0008).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushes.core.errors import RushesError
from rushes.native import sources

LIBRARY = Path(__file__).with_name("loops.so")
_KINDS: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double, "float32": ctypes.c_float, "": None}


@cache
def c_function(name: str, arguments: str, result: str = "") -> Callable[..., Any]:
    """The function of the library, its arguments being addresses (`uint8*`) and numbers (`int64`, `float64`) as listed.

    `result` is empty for a function that returns nothing.
    """
    function = _library()[name]
    function.argtypes = [ctypes.c_void_p if kind.endswith("*") else _KINDS[kind] for kind in arguments.split()]
    function.restype = _KINDS[result]
    return function


def in_rows(plane: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The plane with the values of each row side by side, a copy unless it is so; and how many values apart rows begin.

    A decoder's rows are padded, and may go upwards: the number is then negative.
    """
    line, step = plane.strides
    if step != plane.itemsize or line % step:
        plane = np.ascontiguousarray(plane)
    return plane, plane.strides[0] // plane.itemsize


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise RushesError(
            f"{LIBRARY}: the compiled loops cannot be loaded ({error}); "
            "install Rushes with pip, or run `python hatch_build.py` in a checkout, which needs a C compiler"
        ) from None
    if sources.c_files() and _made_of(library) != sources.digest():
        raise RushesError(f"{LIBRARY}: made of other C files than those beside it; run `python hatch_build.py`")
    return library


def _made_of(library: ctypes.CDLL) -> str:
    try:
        function = library.sources_digest
    except AttributeError:
        return ""
    function.restype = ctypes.c_char_p
    return str(function().decode())
