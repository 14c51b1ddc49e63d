"""The logistic function and its relatives, over arrays; nothing overflows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def expit(values: ArrayLike) -> Floats:
    """1 / (1 + e^−x).

    >>> expit([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(values, np.float64))))


def log_expit(values: ArrayLike) -> Floats:
    """ln(1 / (1 + e^−x)), also where the share underflows or is nearly 1.

    >>> log_expit([-1000.0, 1000.0]).tolist()
    [-1000.0, -0.0]
    """
    return np.asarray(-np.logaddexp(0.0, -np.asarray(values, np.float64)))


def softmax(values: Floats, axis: int) -> Floats:
    """e^x / Σ e^x along an axis.

    >>> softmax(np.array([0.0, 0.0, -1000.0]), axis=0).tolist()
    [0.5, 0.5, 0.0]
    """
    powers = np.exp(values - values.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))
