"""The incomplete beta function, and with it the binomial distribution, Student's t and F."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from rushes.stats.special.fraction import continued_fraction
from rushes.stats.special.gamma import deviance, stirling_error
from rushes.stats.special.inverse import tail_inverse
from rushes.stats.special.normal import normal_quantile

_MOST_TERMS = 1_000_000


def beta_tails(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """I_x(a, b) and 1 − I_x(a, b): how much of the beta distribution lies below x, and above.

    Formula     x^a y^b / B(a, b) / (β₀ + α₁/(β₁ + α₂/(β₂ + …))), the power by Loader's deviances; above its mean the
                distribution is turned round: 1 − I_y(b, a). With λ = a − (a + b)x,
                αₙ = (a+n−1)(a+b+n−1) n(b−n) x² / (a+2n−1)²,
                βₙ = n + n(b−n)x / (a+2n−1) + (a+n)(λ + 1 + n(1+y)) / (a+2n+1)
    Inputs      a, b > 0; x from 0 to 1, and y = 1 − x, given by itself so that neither loses digits
    Accuracy    the smaller of both has a relative error below 1e-12 for a + b up to 1e6, until it underflows
    Edge cases  x = 0: (0, 1); y = 0: (1, 0); NaN: NaN
    Reference   Didonato and Morris 1992, the even part of DLMF 8.17.22; Loader 2000; Lentz 1976
    """
    if x <= 0.0 or y <= 0.0:
        return (0.0, 1.0) if x <= 0.0 else (1.0, 0.0)
    if x > (a + 1.0) / (a + b + 2.0):
        upper, lower = beta_tails(b, a, y, x)
        return lower, upper
    lower = min(_power(a, b, x, y) / _fraction(a, b, x, y), 1.0)
    return lower, 1.0 - lower


def _power(a: float, b: float, x: float, y: float) -> float:
    """x^a y^b / B(a, b)."""
    n = a + b
    errors = stirling_error(n) - stirling_error(a) - stirling_error(b)
    return math.sqrt(a * (b / n) / (2.0 * math.pi)) * math.exp(errors - deviance(a, n * x) - deviance(b, n * y))


def _fraction(a: float, b: float, x: float, y: float) -> float:
    """β₀ + α₁/(β₁ + α₂/(β₂ + …)), λ from the smaller of x and y: there it keeps its digits."""
    apart = 1.0 + (a - (a + b) * x if x < y else (a + b) * y - b)

    def terms() -> Iterator[tuple[float, float]]:
        for n in range(1, _MOST_TERMS):
            place = a + 2 * n
            ahead = n * (b - n) * x / (place - 1.0)
            alpha = (a + n - 1.0) / (place - 1.0) * (a + b + n - 1.0) * ahead * x
            yield alpha, n + ahead + (a + n) * (apart + n * (1.0 + y)) / (place + 1.0)

    return continued_fraction(a * apart / (a + 1.0), terms())


def beta_quantile(share: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = share, for a, b ≥ 1.

    Edge cases  share 0: 0; 1: 1

    >>> round(beta_quantile(0.5, 2.0, 2.0), 12), round(beta_quantile(0.25, 1.0, 2.0), 12)
    (0.5, 0.133974596216)
    """
    if not 0.0 < share < 1.0:
        return share if share in (0.0, 1.0) else math.nan
    if share > 0.5:
        return 1.0 - beta_quantile(1.0 - share, b, a)

    def below(x: float) -> tuple[float, float]:
        if x >= 1.0:
            return 0.0, 0.0
        return beta_tails(a, b, x, 1.0 - x)[0], _power(a, b, x, 1.0 - x) / (x * (1.0 - x))

    return tail_inverse(below, share, a / (a + b))


def binomial_cdf(successes: int, trials: int, share: float) -> float:
    """P(X ≤ successes), X ~ Bin(trials, share): I_(1−share)(trials − successes, successes + 1).

    Edge cases  fewer than 0 successes: 0; all of them or more: 1

    >>> round(binomial_cdf(1, 2, 0.5), 12), binomial_cdf(-1, 2, 0.5), binomial_cdf(2, 2, 0.5)
    (0.75, 0.0, 1.0)
    """
    if not 0 <= successes < trials:
        return 0.0 if successes < 0 else 1.0
    return beta_tails(trials - successes, successes + 1.0, 1.0 - share, share)[0]


def binomial_tail(successes: int, trials: int, share: float) -> float:
    """P(X > successes), by itself: exact where the other is nearly 1."""
    if not 0 <= successes < trials:
        return 1.0 if successes < 0 else 0.0
    return beta_tails(trials - successes, successes + 1.0, 1.0 - share, share)[1]


def student_cdf(t: float, freedom: float) -> float:
    """P(T ≤ t), T of Student's distribution with so many degrees of freedom, whole or not.

    Formula     t < 0: ½ I_x(freedom/2, ½), x = freedom / (freedom + t²); t > 0: 1 minus that of −t
    Accuracy    relative error below 1e-12 up to 1e6 degrees of freedom
    Edge cases  freedom ∞: the normal distribution; t = ±∞: 0 or 1; NaN: NaN

    >>> round(student_cdf(1.0, 1), 12), student_cdf(0.0, 7)
    (0.75, 0.5)
    """
    if math.isnan(t) or math.isnan(freedom):
        return math.nan
    if freedom == math.inf:
        return 0.5 * math.erfc(-t / math.sqrt(2.0))
    tail = 0.5 * beta_tails(freedom / 2.0, 0.5, *_shares(t * t / freedom))[0]
    return tail if t < 0.0 else 1.0 - tail


@lru_cache(maxsize=1024)  # a board asks for the same one thousands of times
def student_quantile(share: float, freedom: float) -> float:
    """The t below which this share of Student's distribution lies.

    Accuracy    relative error below 1e-12 from 1 to 1e6 degrees of freedom
    Edge cases  freedom ∞: the normal distribution; share 0: −∞; ½: 0; 1: ∞; NaN: NaN

    >>> round(student_quantile(0.975, 9), 6)
    2.262157
    """
    if math.isnan(freedom):
        return math.nan
    if freedom == math.inf or not 0.0 < share < 1.0 or share == 0.5:
        return normal_quantile(share)
    tail = min(share, 1.0 - share)
    half, z = freedom / 2.0, normal_quantile(tail)

    def outside(t: float) -> tuple[float, float]:
        x, y = _shares(t * t / freedom)
        lower, upper = beta_tails(half, 0.5, x, y)
        density = 2.0 * _power(half, 0.5, x, y) / t
        return (upper, density) if tail > 0.25 else (lower, -density)

    # Near the middle what lies between −t and t is exact, further out what lies beyond them.
    wanted = 1.0 - 2.0 * tail if tail > 0.25 else 2.0 * tail
    found = tail_inverse(outside, wanted, -z * (1.0 + (z * z + 1.0) / (4.0 * freedom)))
    return math.copysign(found, share - 0.5)


def f_tail(x: float, above: float, below: float) -> float:
    """P(F > x), F with `above` and `below` degrees of freedom: I_y(below/2, above/2), y = below / (below + above · x).

    Edge cases  x = 0: 1; ∞: 0

    >>> round(f_tail(1.0, 4, 4), 12)
    0.5
    """
    return beta_tails(below / 2.0, above / 2.0, *_shares(above * x / below))[0]


def _shares(ratio: float) -> tuple[float, float]:
    """1 / (1 + ratio), and what is left of 1."""
    return 1.0 / (1.0 + ratio), ratio / (1.0 + ratio) if ratio < math.inf else 1.0
