"""How far a picture is from the next one taken back along the flow, where the flow can be trusted; a compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.media.numba_cache import kernel

AGREE_SHARE = 0.01
"""Of |F|² + |B|²: how far there and back may miss, as a share of the motion …"""
AGREE_FLOOR = 0.5
"""… and in any case, pixels². Sundaram et al. 2010; Lai et al. 2018 use the same."""
EDGE_SHARE = 0.01
"""Of |F|²: how much the flow may change from a pixel to the next before it counts as the edge of a moving thing …"""
EDGE_FLOOR = 0.002
"""… and in any case, pixels² per pixel²."""

Field = NDArray[np.float32]
Rgb = NDArray[np.uint8]


class WarpSums(NamedTuple):
    """Sums over the pixels that are seen in both pictures, on the 0–255 scale."""

    squared: float
    """Σ (I(x) − J(x + F(x)))², over pixels and channels."""
    absolute: float
    seen: int
    """Pixels that both pictures show."""


def warp_sums(one: Rgb, other: Rgb, there: Field, back: Field) -> WarpSums:
    """`other` taken back along `there` and held against `one`, as Lai et al. 2018 do.

    The picture is read bilinearly at x + F(x), edges repeated. A pixel counts unless the way there and back misses it,

        |F(x) + B(x + F(x))|² > 0.01 (|F(x)|² + |B(x + F(x))|²) + 0.5

    or it lies on the edge of a motion: |∇F_x|² + |∇F_y|² > 0.01 |F(x)|² + 0.002, by differences to the next pixel.
    """
    return WarpSums(*_kernel()(one, other, there, back))


def _sums(one: Any, other: Any, there: Any, back: Any) -> Any:
    h, w = there.shape[:2]
    squared, absolute, seen = 0.0, 0.0, 0
    for y in range(h):
        row_squared, row_absolute = 0.0, 0.0
        for x in range(w):
            fx, fy = np.float64(there[y, x, 0]), np.float64(there[y, x, 1])
            moved = fx * fx + fy * fy
            edge = 0.0
            if x + 1 < w:
                edge += (there[y, x + 1, 0] - fx) ** 2 + (there[y, x + 1, 1] - fy) ** 2
            if y + 1 < h:
                edge += (there[y + 1, x, 0] - fx) ** 2 + (there[y + 1, x, 1] - fy) ** 2
            if not edge <= EDGE_SHARE * moved + EDGE_FLOOR:
                continue
            px, py = x + fx, y + fy
            left, top = np.floor(px), np.floor(py)
            a, b = px - left, py - top
            x0, x1 = int(min(max(left, 0), w - 1)), int(min(max(left + 1, 0), w - 1))
            y0, y1 = int(min(max(top, 0), h - 1)), int(min(max(top + 1, 0), h - 1))
            k00, k01, k10, k11 = (1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b
            bx = k00 * back[y0, x0, 0] + k01 * back[y0, x1, 0] + k10 * back[y1, x0, 0] + k11 * back[y1, x1, 0]
            by = k00 * back[y0, x0, 1] + k01 * back[y0, x1, 1] + k10 * back[y1, x0, 1] + k11 * back[y1, x1, 1]
            if (fx + bx) ** 2 + (fy + by) ** 2 > AGREE_SHARE * (moved + bx * bx + by * by) + AGREE_FLOOR:
                continue
            seen += 1
            for c in range(3):
                there_seen = (
                    k00 * other[y0, x0, c] + k01 * other[y0, x1, c] + k10 * other[y1, x0, c] + k11 * other[y1, x1, c]
                )
                d = one[y, x, c] - there_seen
                row_squared += d * d
                row_absolute += abs(d)
        squared += row_squared
        absolute += row_absolute
    return squared, absolute, seen


_kernel = kernel(_sums)
