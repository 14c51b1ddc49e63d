"""The median of a few numbers, as NumPy gives it, at a tenth of the time: a clip's numbers take thirty."""

from __future__ import annotations

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
