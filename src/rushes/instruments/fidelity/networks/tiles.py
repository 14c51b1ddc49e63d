"""Loops of the quick convolution, in C: tiles to Winograd's points and back, max pools, and heads.

A stride-1 convolution of a tile is one product per point and pair of channels once tile and kernel are taken to points
(Lavin and Gray 2016); what is needed else are the sums below. A tile gives 4 × 4 outputs. A 3 × 3 kernel takes 6 × 6
points for them (0, ±1, ±2 and infinity; 4 times fewer products than the direct form), a 5 × 5 kernel 8 × 8 (those and
±1/2; 6 times fewer). Pictures are N × H × W × C, and channels are worked through in blocks of a fixed width, so that
the innermost loops become vector instructions. Other threads run meanwhile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function

SIDE = 4
"""Outputs of a tile, down and across."""
BLOCK = 64
"""Channels that are worked on at a time; every layer but a network's first has a multiple of them."""

Array = NDArray[np.float32]
"""What is written to has no gaps between its values; what is read is copied where it has."""


def _packed(*arrays: Array) -> tuple[Array, ...]:
    return tuple(np.ascontiguousarray(array, np.float32) for array in arrays)


def points(side: int, pictures: Array, first: int, found: Array) -> None:
    """Tiles from number `first` on at `side` × `side` points, T × side² × C."""
    (given,) = _packed(pictures)
    call = c_function("points", "int64 float32* int64 int64 int64 int64 int64 float32*")
    call(side, given.ctypes.data, *given.shape[1:], first, len(found), found.ctypes.data)


def outputs(
    side: int, products: Array, first: int, bias: Array, c: int, out: Array, pad: int, rows: int, cols: int
) -> None:
    """Products of tiles (T × side² × block), with bias and ReLU, into channels of `out` from `c` on, `pad` pixels from
    its border."""
    given, offsets = _packed(products, bias)
    pointers = "int64 float32* int64 int64 float32* int64 float32* int64 int64 int64 int64 int64 int64"
    sides = *out.shape[1:], pad, rows, cols
    places = given.ctypes.data, first, len(given), offsets.ctypes.data, c, out.ctypes.data
    c_function("outputs", pointers)(side, *places, *sides)


def pooled(pictures: Array, inset: int, window: int, out: Array, pad: int, rows: int, cols: int) -> None:
    """Max over each `window` × `window` with a step of 2, `inset` pixels from the border, into `out`, `pad` from its.

    Nothing is below 0 after a ReLU.
    """
    (given,) = _packed(pictures)
    pointers = "float32* int64 int64 int64 int64 int64 int64 float32* int64 int64 int64 int64 int64"
    call = c_function("pooled", pointers)
    sides = *out.shape[1:3], pad, rows, cols
    call(given.ctypes.data, *given.shape, inset, window, out.ctypes.data, *sides)


def distances(
    features: Array,
    pad: int,
    head: Array,
    down: NDArray[np.float64],
    across: NDArray[np.float64],
    plain: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> None:
    """Add a layer's distance of picture n and picture n + half: the plain mean, and that of the enlarged map.

    Per pixel Σ_c head_c · (a_c / (|a| + 1e-10) − b_c / (|b| + 1e-10))²; `down` and `across` weigh rows and columns.
    """
    pointers = "float32* int64 int64 int64 int64 int64 float32* float64* int64 float64* int64 float64* float64*"
    given, heads = _packed(features, head)
    weights = heads.ctypes.data, down.ctypes.data, len(down), across.ctypes.data, len(across)
    shape = len(given) // 2, *given.shape[1:], pad
    c_function("distances", pointers)(given.ctypes.data, *shape, *weights, plain.ctypes.data, spread.ctypes.data)
