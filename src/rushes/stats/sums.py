"""Sums of many numbers without an error of rounding."""

from __future__ import annotations

import math

import numpy as np

from rushes.stats.intervals import Floats

_FEW = 4096
"""Up to so many, Python's own loop is as quick."""
_PART = 52
"""Bits of a float before its exponent's."""
_LEAST = 1075
"""The least float of all is 2**(1 − this), with exponent 1 as of those that are not normal."""
_MOST = 2**25
"""Halves of 27 bits and so many of them stay below 2**53, where floats count exactly."""


def exact_sum(values: Floats) -> float:
    """`math.fsum` of an array: the float next to the sum of these very floats, in whatever order they come.

    Method      a float is a whole number below 2**53 times a power of two. The whole numbers, in two halves, are added
                up for each power, which floats do exactly; Python's integers put these few sums together
    Edge cases  as `math.fsum`, which has the arrays that are short, very long, or not finite

    >>> exact_sum(np.array([0.1] * 10)), exact_sum(np.array([1e100, 1.0, -1e100]))
    (1.0, 1.0)
    """
    if not _FEW < len(values) < _MOST or not np.isfinite(values).all():
        return math.fsum(values.tolist())
    bits = np.ascontiguousarray(values).view(np.int64)
    powers = (bits >> _PART) & 0x7FF
    whole = (bits & (2**_PART - 1)) | (np.minimum(powers, 1) << _PART)
    np.negative(whole, out=whole, where=bits < 0)
    highs, lows = (np.bincount(powers, weights=half).tolist() for half in (whole >> 26, whole & (2**26 - 1)))
    total = sum(
        ((int(high) << 26) + int(low)) << max(power, 1)
        for power, (high, low) in enumerate(zip(highs, lows, strict=True))
    )
    return total / (1 << _LEAST)
