"""Quantiles of the normal and of Student's distribution, and the names of our arrays.

From SciPy's special functions, on first use: its distributions, which give the same bits, take a second to load.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]


@lru_cache(maxsize=1024)
def normal_quantile(share: float) -> float:
    """The value below which this share of a standard normal distribution lies.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from scipy.special import ndtri

    return float(ndtri(share))


@lru_cache(maxsize=1024)  # a board asks for the same one thousands of times, and scipy takes its time
def student_quantile(share: float, freedom: float) -> float:
    """The same for Student's t with so many degrees of freedom.

    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))
