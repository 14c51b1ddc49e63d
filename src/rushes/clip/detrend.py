"""A series less its own running mean: what moves at the pace of speech, without what drifts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def detrended(values: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    """Each value less the mean of those up to `reach` places away, itself included; gaps (NaN) stay gaps.

    >>> detrended(np.array([1.0, 2.0, 6.0, np.nan]), reach=1).tolist()
    [-0.5, -1.0, 2.0, nan]
    """
    known = np.isfinite(values)
    places = np.arange(len(values))
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    total, count = sums[high] - sums[low], counts[high] - counts[low]
    found: NDArray[np.float64] = np.where(known, values - total / np.maximum(count, 1), np.nan)
    return found


def spread(values: NDArray[np.float64], *, fps: float) -> float:
    """Population standard deviation of a series less its running mean over one second; 0 where nothing is known."""
    moving = detrended(values, reach=max(1, round(fps / 2)))
    known = moving[np.isfinite(moving)]
    return float(np.std(known)) if len(known) else 0.0
