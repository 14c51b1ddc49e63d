"""Quantiles of the normal and of Student's distribution.

SciPy's distributions take a second to load, and most commands about a study need none: so they are loaded here, on
first use.
"""

from __future__ import annotations


def normal_quantile(share: float) -> float:
    """The value below which this share of a standard normal distribution lies.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from scipy.stats import norm

    return float(norm.ppf(share))


def student_quantile(share: float, freedom: float) -> float:
    """The same for Student's t with so many degrees of freedom.

    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    from scipy.stats import t

    return float(t.ppf(share, freedom))
