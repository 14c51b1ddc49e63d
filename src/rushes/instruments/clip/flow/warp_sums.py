"""How far a picture is from the next one taken back along the flow, where the flow can be trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function

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
    pictures = [np.ascontiguousarray(picture, np.uint8) for picture in (one, other)]
    fields = [np.ascontiguousarray(field, np.float32) for field in (there, back)]
    places = [picture.ctypes.data for picture in pictures] + [field.ctypes.data for field in fields]
    sums = np.empty(2)
    pointers = "uint8* uint8* float32* float32* int64 int64 float64 float64 float64 float64 float64*"
    call = c_function("warp_sums", pointers, "int64")
    seen = call(*places, *there.shape[:2], EDGE_SHARE, EDGE_FLOOR, AGREE_SHARE, AGREE_FLOOR, sums.ctypes.data)
    squared, absolute = sums.tolist()
    return WarpSums(squared, absolute, seen)
