"""Medians and quantiles of a few numbers, as NumPy gives them, at a tenth of the time: a clip takes fifty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def median(values: Any) -> float:
    """The middle of all values, or the mean of the two in the middle; NaN where one of them is, and of none.

    >>> median([3.0, 1.0, 2.0]), median(np.array([4, 1, 2, 3]))
    (2.0, 2.5)
    """
    ordered = np.sort(values, axis=None)
    ordered = ordered.astype(np.float64) if ordered.dtype.kind in "biu" else ordered
    half, last = len(ordered) // 2, ordered[-1] if len(ordered) else np.nan
    if last != last:  # NaN is sorted behind all numbers
        return float(last)
    return float(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def medians(rows: Any) -> Any:
    """The median of each row (the last axis), of numbers alone, in their precision.

    >>> medians(np.array([[3.0, 1.0, 2.0], [4.0, 1.0, 1.0]])).tolist()
    [2.0, 1.0]
    """
    ordered = np.sort(rows, axis=-1)
    half, odd = divmod(ordered.shape[-1], 2)
    return ordered[..., half] if odd else (ordered[..., half - 1] + ordered[..., half]) / 2


def quantile(values: Any, q: float) -> float:
    """The quantile of all values, linear between ranks; none is NaN.

    >>> quantile([4.0, 1.0, 2.0], 0.75)
    3.0
    """
    ordered = np.sort(values, axis=None)
    return linear_quantile(ordered.__getitem__, len(ordered), q)


def linear_quantile(ordered: Callable[[int], Any], count: int, q: float) -> float:
    """The quantile of so many values in order, linear between ranks, as numpy has it: in their precision.

    >>> linear_quantile([1.0, 2.0, 4.0].__getitem__, 3, 0.75)
    3.0
    """
    place = (count - 1) * q
    below = min(int(place), count - 1)
    low, high, part = ordered(below), ordered(min(below + 1, count - 1)), place - below
    return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part))
