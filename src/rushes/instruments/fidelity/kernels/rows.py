"""Planes as rows of one piece, which the compiler can vectorise, without a copy; and when a compiler pays.

numba takes 0.3 s to load. A process that compares a few frames does without it: SSIM's kernels have the same in numpy,
operation by operation, so that the bytes are the same and only the time is not.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.media.numba_cache import load_numba

Plane: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]


_PAYS_FROM = 4_000_000
"""Pixels of structure compared from which numba is loaded: numpy takes 15 to 35 ns more for each."""
_seen = 0
"""Pixels compared by this process so far."""


def pays(pixels: int) -> bool:
    """Whether so many pixels, with those before, are worth loading numba."""
    global _seen
    _seen += pixels
    return is_warm()


def is_warm() -> bool:
    """Whether this process has compared, or is to compare, so much that numba pays."""
    return _seen > _PAYS_FROM


def expect(pixels: int) -> None:
    """So many are to come: where they are worth it, numba is loaded with the first of them."""
    global _seen
    if pixels > _PAYS_FROM:
        _seen = max(_seen, pixels)


def warm() -> None:
    """Load numba now, and go by it from here on."""
    global _seen
    _seen = _PAYS_FROM + 1
    load_numba()


def in_order(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums down the columns, one row after the other, as a compiled loop adds them."""
    return np.asarray(np.add.accumulate(rows, axis=0)[-1])


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
