"""The incomplete gamma function, and with it the χ² distribution."""

from __future__ import annotations

import math

from rushes.stats.special.fraction import continued_fraction
from rushes.stats.special.inverse import tail_inverse
from rushes.stats.special.normal import normal_quantile

_LARGE = 10.0
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_MOST_TERMS = 1_000_000


def stirling_error(n: float) -> float:
    """What Stirling's formula leaves out of ln Γ(n + 1): δ(n) = ln Γ(n + 1) − (n + ½) ln n + n − ½ ln 2π.

    Formula     1/(12n) − 1/(360n³) + 1/(1260n⁵) − … from n = 10 on; below, δ(n) = δ(n + 1) + (n + ½) ln(1 + 1/n) − 1
    Inputs      n > 0
    Accuracy    absolute error below 2e-15. The difference of two ln Γ, each large, would lose what is asked for
    Reference   DLMF 5.11.1; Loader 2000, "Fast and accurate computation of binomial probabilities"
    """
    below = []
    while n < _LARGE:
        below.append((n + 0.5) * math.log1p(1.0 / n) - 1.0)
        n += 1.0
    square, total = 1.0 / (n * n), 0.0
    for term in reversed(_SERIES):
        total = total * square + term
    return math.fsum((*below, total / n))


def deviance(n: float, mean: float) -> float:
    """n ln(n / mean) + mean − n, without cancellation where n is near the mean.

    Formula     with v = (n − mean)/(n + mean): (n − mean) v + 2n Σ v^(2j+1)/(2j + 1), j ≥ 1, for |v| < 0.1
    Inputs      n > 0; mean ≥ 0, which gives ∞ at 0
    Reference   Loader 2000
    """
    apart = n - mean
    if abs(apart) >= 0.1 * (n + mean):
        return n * math.log(n / mean) + mean - n if mean > 0.0 else math.inf
    v = apart / (n + mean)
    total, power = apart * v, 2.0 * n * v
    for j in range(3, _MOST_TERMS, 2):
        power *= v * v
        total += power / j
        if not abs(power) > 1e-17 * total:
            break
    return total


def gamma_tails(a: float, x: float) -> tuple[float, float]:
    """Lower and upper incomplete gamma function, P(a, x) and Q(a, x), which add up to 1.

    Formula     P = x^a e^−x / Γ(a+1) · Σ xⁿ / ((a+1) … (a+n)) below x = a + 1; above it the continued fraction of Q
    Inputs      a > 0, x ≥ 0 or ∞
    Accuracy    the smaller of both has a relative error below 1e-13 up to a = 1e6, until it underflows
    Edge cases  x = 0: (0, 1); ∞: (1, 0); NaN: NaN
    Reference   DLMF 8.11.4 and 8.9.2; Lentz 1976 on how a fraction is summed up
    """
    if x <= 0.0 or x == math.inf:
        return (0.0, 1.0) if x <= 0.0 else (1.0, 0.0)
    power = _power(a, x)
    if x < a + 1.0:
        term = total = 1.0
        for n in range(1, _MOST_TERMS):
            term *= x / (a + n)
            total += term
            if not term > 1e-17 * total:
                break
        lower = min(power * total, 1.0)
        return lower, 1.0 - lower
    first = x + 1.0 - a
    fraction = continued_fraction(first, ((-n * (n - a), first + 2 * n) for n in range(1, _MOST_TERMS)))
    upper = min(a * power / fraction, 1.0)
    return 1.0 - upper, upper


def _power(a: float, x: float) -> float:
    """x^a e^−x / Γ(a + 1)."""
    return math.exp(-stirling_error(a) - deviance(a, x)) / math.sqrt(2.0 * math.pi * a)


def chi_square_tail(x: float, freedom: float) -> float:
    """P(X > x), X ~ χ² with so many degrees of freedom: Q(freedom/2, x/2).

    >>> round(chi_square_tail(3.841458820694124, 1), 12)
    0.05
    """
    return gamma_tails(freedom / 2.0, x / 2.0)[1]


def chi_square_quantile(share: float, freedom: float) -> float:
    """The x above which this share of χ² lies: its upper tail, as in tables of critical values.

    Accuracy    relative error below 1e-12 up to 1e6 degrees of freedom; where the share is nearly 1, what is left of 1
                is all there is to know
    Edge cases  share 0: ∞; 1: 0; NaN: NaN

    >>> round(chi_square_quantile(0.05, 1), 6)
    3.841459
    """
    if math.isnan(share) or not 0.0 < share < 1.0:
        return {0.0: math.inf, 1.0: 0.0}.get(share, math.nan)
    a = freedom / 2.0
    spread = 2.0 / (9.0 * freedom)
    z = max(-5.0, min(5.0, normal_quantile(share)))  # further out, the start would be where the tail underflows
    start = a * max(0.2, 1.0 - spread - z * math.sqrt(spread)) ** 3  # Wilson and Hilferty 1931
    if share > 0.5:
        return 2.0 * tail_inverse(lambda x: (gamma_tails(a, x)[0], a / x * _power(a, x)), 1.0 - share, start)
    return 2.0 * tail_inverse(lambda x: (gamma_tails(a, x)[1], -a / x * _power(a, x)), share, start)
