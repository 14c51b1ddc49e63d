"""Intervals of a share, a mean, a change of flags, and of anything whose variance is known.

| method | of |
|---|---|
| student-t | a mean: mean ± t(n − 1, (1 + level)/2) · s / √n, s the sample standard deviation (Student 1908) |
| wilson | a share of independent trials: Wilson's score interval (Wilson 1927) |
| clopper-pearson-of-changed | the mean change of a flag: (m / n) · (2π − 1), m the clips that changed of n, π the exact
binomial limits of the share of them that rose (Clopper and Pearson 1934, given the clips that changed) |

Those that cluster by rater and prompt are in `clustered`, the jackknife and the bootstrap in modules of their own.

They rest on quantiles of the normal and of Student's distribution (`special`). The names of our arrays are here too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Interval
from rushes.core.errors import InputError
from rushes.stats.special.beta import beta_quantile
from rushes.stats.special.beta import student_quantile as student_quantile
from rushes.stats.special.normal import normal_quantile as normal_quantile

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

LEVEL = 0.95
STUDENT_T = "student-t"
WILSON = "wilson"
EXACT = "clopper-pearson-of-changed"


def student_interval(mean: float, deviation: float, n: int, *, level: float = LEVEL) -> Interval:
    """Of a mean of n values with this sample standard deviation."""
    half = student_quantile((1 + level) / 2, n - 1) * deviation / math.sqrt(n)
    return Interval(low=mean - half, high=mean + half, level=level, method=STUDENT_T)


def wilson(
    successes: float, trials: float, *, level: float = LEVEL, method: str = WILSON, quantile: float | None = None
) -> Interval:
    """Wilson's score interval of a share.

    Formula     (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    Edge cases  0 of n has the lower bound 0, n of n the upper bound 1. Needs a trial. `quantile` stands in for z.

    >>> found = wilson(8, 10)
    >>> round(found.low, 8), round(found.high, 8)
    (0.49016247, 0.94331785)
    """
    check_confidence(level)
    z2 = (normal_quantile(0.5 + level / 2.0) if quantile is None else quantile) ** 2
    p = successes / trials
    half = math.sqrt(z2 * (p * (1.0 - p) / trials + z2 / (4.0 * trials**2)))
    centre, scale = p + z2 / (2.0 * trials), 1.0 + z2 / trials
    low = 0.0 if successes <= 0 else (centre - half) / scale
    high = 1.0 if successes >= trials else (centre + half) / scale
    return Interval(low=low, high=high, level=level, method=method)


@lru_cache(maxsize=1024)
def exact_interval(rose: int, fell: int, n: int, *, level: float = LEVEL) -> Interval:
    """Of a flag's mean change over n clips, of which some rose and some fell; needs one that changed."""
    changed, tail = rose + fell, (1.0 - level) / 2.0
    low = beta_quantile(tail, rose, fell + 1.0) if rose else 0.0
    high = 1.0 - beta_quantile(tail, fell, rose + 1.0) if fell else 1.0
    low, high = (changed / n * (2 * limit - 1) for limit in (low, high))
    return Interval(low=low, high=high, level=level, method=EXACT)


def normal_interval(value: float, variance: float, method: str, *, level: float = LEVEL) -> Interval:
    """value ± z·√variance."""
    half = normal_quantile(0.5 + level / 2.0) * math.sqrt(variance)
    return Interval(low=value - half, high=value + half, level=level, method=method)


def check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise InputError(f"a confidence is between 0 and 1, such as 0.95; got {confidence}")
