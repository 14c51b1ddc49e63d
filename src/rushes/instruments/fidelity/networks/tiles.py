"""Loops of the quick convolution, compiled by numba: tiles to Winograd's points and back, max pools, and heads.

A stride-1 convolution of a tile is one product per point and pair of channels once tile and kernel are taken to points
(Lavin and Gray 2016); what is needed else are the sums below. A tile gives 4 × 4 outputs. A 3 × 3 kernel takes 6 × 6
points for them (0, ±1, ±2 and infinity; 4 times fewer products than the direct form), a 5 × 5 kernel 8 × 8 (those and
±1/2; 6 times fewer). Pictures are N × H × W × C, and channels are worked through in blocks of a fixed width at fixed
distances, so that the innermost loops become vector instructions. Places are unsigned for the same reason: numba lets
a signed one count from an array's end, and looks at each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rushes.media.numba_cache import compiled

SIDE = 4
"""Outputs of a tile, down and across."""
BLOCK = 64
"""Channels that are worked on at a time; every layer but a network's first has a multiple of them."""

# numba takes a number of Python's for float64, which would halve the speed
_HALF, _QUARTER, _EIGHTH = (np.float32(1 / n) for n in (2, 4, 8))
_2, _4, _5, _8 = (np.float32(n) for n in (2, 4, 5, 8))
_5_4, _5_2, _17_4, _21_4 = (np.float32(n / 4) for n in (5, 10, 17, 21))
_0, _1, _EPS = np.float32(0), np.float32(1), np.float32(1e-10)
_START, _ONE = np.uint64(0), np.uint64(BLOCK)
_u = np.uint64

# other threads run meanwhile; sums are taken in the order that vectors ask for, the same in every run
_loop = partial(compiled, nogil=True, fastmath=True)
_inner = partial(compiled, nogil=True, fastmath=True, forceinline=True)
# a · s − b · s of equals must be 0, so the product is rounded like the other one and not fused with the difference
_unfused = partial(compiled, nogil=True, fastmath={"reassoc", "nsz"})


@_inner
def _to_8(b: Any, start: Any, apart: Any, count: Any) -> None:
    """Rows of eight numbers, `apart` from each other, to the 8 points, in place."""
    for o0 in range(start, start + count):
        o1 = o0 + apart
        o2 = o1 + apart
        o3 = o2 + apart
        o4 = o3 + apart
        o5 = o4 + apart
        o6 = o5 + apart
        o7 = o6 + apart
        d0, d1, d2, d3, d4, d5, d6, d7 = b[o0], b[o1], b[o2], b[o3], b[o4], b[o5], b[o6], b[o7]
        even1, odd1 = d2 + d6 - _17_4 * d4, d1 + d5 - _17_4 * d3
        even2, odd2 = d6 + _QUARTER * d2 - _5_4 * d4, _HALF * d1 - _5_2 * d3 + _2 * d5
        even3, odd3 = d6 + _4 * d2 - _5 * d4, _2 * d1 - _5_2 * d3 + _HALF * d5
        b[o0], b[o7] = d6 - d0 + (d2 - d4) * _21_4, d7 - d1 + (d3 - d5) * _21_4
        b[o1], b[o2] = even1 + odd1, even1 - odd1
        b[o3], b[o4] = even2 + odd2, even2 - odd2
        b[o5], b[o6] = even3 + odd3, even3 - odd3


@_inner
def _from_8(b: Any, start: Any, apart: Any, count: Any) -> None:
    """Products at 8 points to four outputs, in place."""
    for o0 in range(start, start + count):
        o1 = o0 + apart
        o2 = o1 + apart
        o3 = o2 + apart
        o4 = o3 + apart
        o5 = o4 + apart
        o6 = o5 + apart
        s1, d1 = b[o1] + b[o2], b[o1] - b[o2]
        s2, d2 = b[o3] + b[o4], b[o3] - b[o4]
        s3, d3 = b[o5] + b[o6], b[o5] - b[o6]
        b[o0] = b[o0] + s1 + s2 + s3
        b[o1] = d1 + _2 * d2 + _HALF * d3
        b[o2] = s1 + _4 * s2 + _QUARTER * s3
        b[o3] = d1 + _8 * d2 + _EIGHTH * d3 + b[o6 + apart]


@_inner
def _to_6(b: Any, start: Any, apart: Any, count: Any) -> None:
    """Rows of six numbers, `apart` from each other, to the 6 points, in place."""
    for o0 in range(start, start + count):
        o1 = o0 + apart
        o2 = o1 + apart
        o3 = o2 + apart
        o4 = o3 + apart
        o5 = o4 + apart
        d0, d1, d2, d3, d4, d5 = b[o0], b[o1], b[o2], b[o3], b[o4], b[o5]
        even1, odd1 = d4 - _4 * d2, d3 - _4 * d1
        even2, odd2 = d4 - d2, _2 * (d3 - d1)
        b[o0], b[o5] = _4 * d0 - _5 * d2 + d4, _4 * d1 - _5 * d3 + d5
        b[o1], b[o2] = even1 + odd1, even1 - odd1
        b[o3], b[o4] = even2 + odd2, even2 - odd2


@_inner
def _from_6(b: Any, start: Any, apart: Any, count: Any) -> None:
    """Products at 6 points to four outputs, in place."""
    for o0 in range(start, start + count):
        o1 = o0 + apart
        o2 = o1 + apart
        o3 = o2 + apart
        o4 = o3 + apart
        s1, d1 = b[o1] + b[o2], b[o1] - b[o2]
        s2, d2 = b[o3] + b[o4], b[o3] - b[o4]
        b[o0] = b[o0] + s1 + s2
        b[o1] = d1 + _2 * d2
        b[o2] = s1 + _4 * s2
        b[o3] = d1 + _8 * d2 + b[o4 + apart]


@_inner
def _copy(source: Any, start: Any, target: Any, place: Any) -> None:
    """A block of channels from one array to another."""
    for k in range(_ONE):
        target[place + k] = source[start + k]


@_inner
def _corner(tile: Any, down: int, across: int) -> tuple[int, int, int]:
    """Picture, row and column where a tile begins."""
    n, place = tile // (down * across), tile % (down * across)
    return n, place // across * SIDE, place % across * SIDE


@_inner
def _to(side: int, b: Any, start: Any, apart: Any, count: Any) -> None:
    if side == 8:
        _to_8(b, start, apart, count)
    else:
        _to_6(b, start, apart, count)


@_inner
def _from(side: int, b: Any, start: Any, apart: Any, count: Any) -> None:
    if side == 8:
        _from_8(b, start, apart, count)
    else:
        _from_6(b, start, apart, count)


# Loops for one side close over numbers alone: over a compiled function, numba would not find them in its cache.


def _points(side: int) -> Any:
    """Tiles from number `first` on at `side` × `side` points, T × side² × C."""
    row, size = _u(side * BLOCK), side * side

    @_loop
    def points(pictures: Any, first: int, points: Any) -> None:
        tall, wide, channels = pictures.shape[1:]
        source, target, b = pictures.reshape(-1), points.reshape(-1), np.empty(size * BLOCK, np.float32)
        for t in range(points.shape[0]):
            n, y, x = _corner(first + t, (tall - side) // SIDE + 1, (wide - side) // SIDE + 1)
            for c in range(0, channels, BLOCK):
                for p in range(size):
                    place = ((n * tall + y + p // side) * wide + x + p % side) * channels + c
                    _copy(source, _u(place), b, _u(p) * _ONE)
                _to(side, b, _START, row, row)
                for i in range(side):
                    _to(side, b, _u(i) * row, _ONE, _ONE)
                for p in range(size):
                    _copy(b, _u(p) * _ONE, target, _u((t * size + p) * channels + c))

    return points


points_6, points_8 = _points(6), _points(8)


@_inner
def _put(
    b: Any, width: int, bias: Any, c: int, target: Any, corner: int, step: int, row: int, rows: int, cols: int
) -> None:
    """Outputs of a block with bias and ReLU, as many as lie inside; `step` and `row` lead to the next pixel and row."""
    for i in range(min(SIDE, rows)):
        for j in range(min(SIDE, cols)):
            start, place, offset = _u(width * i + j) * _ONE, _u(corner + i * row + j * step), _u(c)
            for k in range(_ONE):
                target[place + k] = max(b[start + k] + bias[offset + k], _0)


def _outputs(side: int) -> Any:
    """Products of tiles (T × side² × block) into channels of `out` from `c` on, `pad` pixels from its border."""
    row, size = _u(side * BLOCK), side * side

    @_loop
    def outputs(products: Any, first: int, bias: Any, c: int, out: Any, pad: int, rows: int, cols: int) -> None:
        tall, wide, channels = out.shape[1:]
        source, target, b = products.reshape(-1), out.reshape(-1), np.empty(size * BLOCK, np.float32)
        for t in range(products.shape[0]):
            n, y, x = _corner(first + t, (rows + SIDE - 1) // SIDE, (cols + SIDE - 1) // SIDE)
            for p in range(size):
                _copy(source, _u(t * size + p) * _ONE, b, _u(p) * _ONE)
            _from(side, b, _START, row, row)
            for i in range(SIDE):
                _from(side, b, _u(i) * row, _ONE, _ONE)
            corner = ((n * tall + pad + y) * wide + pad + x) * channels + c
            _put(b, side, bias, c, target, corner, channels, wide * channels, rows - y, cols - x)

    return outputs


outputs_6, outputs_8 = _outputs(6), _outputs(8)


@_loop
def pooled(pictures: Any, inset: int, window: int, out: Any, pad: int, rows: int, cols: int) -> None:
    """Max over each `window` × `window` with a step of 2, `inset` pixels from the border, into `out`, `pad` from its.

    `out` is 0 before, and nothing is below 0 after a ReLU.
    """
    source, target, channels = pictures.reshape(-1), out.reshape(-1), pictures.shape[3]
    for n in range(pictures.shape[0]):
        for y in range(rows):
            for x in range(cols):
                place = _u(((n * out.shape[1] + pad + y) * out.shape[2] + pad + x) * channels)
                for i in range(window):
                    for j in range(window):
                        row, col = inset + 2 * y + i, inset + 2 * x + j
                        start = _u(((n * pictures.shape[1] + row) * pictures.shape[2] + col) * channels)
                        for k in range(_u(channels)):
                            target[place + k] = max(target[place + k], source[start + k])


@_unfused
def distances(features: Any, pad: int, head: Any, down: Any, across: Any, plain: Any, spread: Any) -> None:
    """Add a layer's distance of picture n and picture n + half: the plain mean, and that of the enlarged map.

    Per pixel Σ_c head_c · (a_c / (|a| + 1e-10) − b_c / (|b| + 1e-10))²; `down` and `across` weigh rows and columns.
    """
    half, rows, cols, channels = features.shape[0] // 2, len(down), len(across), features.shape[3]
    for n in range(half):
        total = weighted = np.float64(0)
        for y in range(rows):
            for x in range(cols):
                one, other = features[n, pad + y, pad + x], features[half + n, pad + y, pad + x]
                a2, b2, apart = _0, _0, _0
                for k in range(channels):
                    a2 += one[k] * one[k]
                    b2 += other[k] * other[k]
                a_scale, b_scale = _1 / (np.sqrt(a2) + _EPS), _1 / (np.sqrt(b2) + _EPS)
                for k in range(channels):
                    step = one[k] * a_scale - other[k] * b_scale
                    apart += head[k] * step * step
                total += apart
                weighted += apart * down[y] * across[x]
        plain[n] += total / (rows * cols)
        spread[n] += weighted
