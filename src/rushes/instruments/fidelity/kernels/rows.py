"""Planes as rows of one piece, which the compiler can vectorise, without a copy."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Plane: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]


def packed(plane: NDArray[Any]) -> NDArray[Any]:
    """The plane as an array whose rows follow each other in memory, padding included: its rows may be longer.

    A decoder's rows are padded, and numba has no type for "rows of one piece, some bytes apart": a loop over such a
    view is compiled for any step between pixels and runs slower. The padding belongs to the decoder's memory, except
    after the last row; kernels are told the width and never read it. The result is read-only, a copy too, since a
    kernel is compiled anew for each kind of array.
    """
    height, width = plane.shape
    line, step = plane.strides
    if step != plane.itemsize or line < width * step or line % step:
        plane = np.ascontiguousarray(plane)
        line, step = plane.strides
    return np.lib.stride_tricks.as_strided(plane, (height, line // step), (line, step), writeable=False)
