"""How often a number of clips would answer, and how many clips or votes it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from rushes.core.errors import InputError
from rushes.stats.intervals import Floats, normal_quantile, student_quantile
from rushes.stats.special.gamma import chi_square_quantile, stirling_error
from rushes.stats.special.normal import normal_cdf

MOST_CLIPS = 100_000
"""Where the search for a number of clips ends."""
_NODES = 96
_TAIL = 1e-13


def beyond_power(difference: float, *, sd: float, clips: int, margin: float, alpha: float) -> float:
    """How often a one-sided t test shows that the mean difference is more than `margin`.

    Formula     P(d̄ − margin > t(n − 1, 1 − alpha) · S/√n), d̄ ~ N(difference, sd²/n), (n − 1)·S²/sd² ~ χ²(n − 1): the
                upper tail of a noncentral t
    Unit        probability; alpha at difference = margin
    Inputs      difference and margin in the metric's unit, a loss counted above 0; sd of the differences; clips ≥ 2
    Reference   Student 1908; statsmodels TTestPower(alternative="larger") gives the same

    >>> round(beyond_power(1.0, sd=1.0, clips=10, margin=0.0, alpha=0.05), 4)
    0.8975
    """
    return _power(clips - 1, sd / math.sqrt(clips), alpha, difference - margin, None)


def same_power(difference: float, *, sd: float, clips: int, margin: float, alpha: float) -> float:
    """How often two one-sided t tests show that the mean difference lies inside ±`margin`.

    Formula     P(−margin + t·S/√n < d̄ < margin − t·S/√n), t = t(n − 1, 1 − alpha), d̄ and S as in `beyond_power`
    Unit        probability; at most alpha at |difference| = margin
    Edge cases  margin 0: 0
    Reference   Phillips 1990
    """
    return paired_power(clips - 1, sd / math.sqrt(clips), difference=difference, margin=margin, alpha=alpha)


def paired_power(freedom: int, error: float, *, difference: float, margin: float, alpha: float) -> float:
    """`same_power` by degrees of freedom and standard error, which other designs (cross-over) share."""
    return _power(freedom, error, alpha, margin - difference, margin + difference)


def _power(freedom: int, error: float, alpha: float, above: float, below: float | None) -> float:
    """E over S of P(the mean is inside both bounds), bounds t·S/√n away from it; Gauss–Legendre over S."""
    t = student_quantile(1 - alpha, freedom)
    # u = S / sd: from nearly 0 to nearly its largest; where both bounds meet, nothing beyond counts
    low, high = (math.sqrt(chi_square_quantile(tail, freedom) / freedom) for tail in (1 - _TAIL, _TAIL))
    if below is not None:
        high = min(high, (above + below) / 2 / (t * error))
    if high <= low:
        return 0.0
    nodes, weights = _legendre()
    u = low + (high - low) * (nodes + 1) / 2
    half = freedom / 2
    scale = math.log(2) + math.log(half / (2 * math.pi)) / 2 - stirling_error(half)
    log_density = scale - np.log(u) + half * ((1 - u) * (1 + u) + 2 * np.log(u))
    inside = normal_cdf(above / error - t * u)
    if below is not None:
        inside = inside - normal_cdf(t * u - below / error)
    total = float(np.sum(weights * np.exp(log_density) * np.maximum(inside, 0.0)) * (high - low) / 2)
    return min(1.0, max(0.0, total))


@cache
def _legendre() -> tuple[Floats, Floats]:
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(_NODES)
    return nodes, weights


def clips_to_tell(
    loss: float, *, sd: float, margin: float, alpha: float, power: float, either: bool = False
) -> int | None:
    """The fewest clips with which a gate answers with this power, if the true loss is the one assumed.

    A loss below the margin is to be shown to be no more than it, one above to be more: both are the one-sided test of
    a distance |margin − loss|. `either`: a change to either side counts as loss; inside ±margin both sides are to be
    shown at alpha each, outside the one at alpha / 2. None where the loss is as large as the margin, or where even
    `MOST_CLIPS` are too few.

    >>> clips_to_tell(0.0, sd=1.0, margin=1.0, alpha=0.05, power=0.9)
    11
    """
    size = abs(loss) if either else loss
    if size == margin:
        return None

    def reached(clips: int) -> bool:
        if either and size < margin:
            return same_power(size, sd=sd, clips=clips, margin=margin, alpha=alpha) >= power
        one_sided = alpha / 2 if either else alpha
        return beyond_power(abs(margin - size), sd=sd, clips=clips, margin=0.0, alpha=one_sided) >= power

    return _least(reached)


def _least(reached: Callable[[int], bool]) -> int | None:
    """The least n from 2 for which it holds; it holds for all above."""
    high = 2
    while not reached(high):
        if high == MOST_CLIPS:
            return None
        high = min(2 * high, MOST_CLIPS)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def votes_needed(preference: float, *, power: float = 0.8, alpha: float = 0.05, tie_share: float = 0.0) -> int:
    """Votes on one pair of systems that a sign test needs to tell a true preference share from an even one.

    Formula     n = ((z_{1−α/2} ½ + z_{power} √(p(1−p))) / (p − ½))², rounded up: decided votes
    Unit        votes, taken as independent; divided by (1 − share of ties) for all votes
    Caution     the exact test is a little more careful than the normal one behind it (0.76 for 0.80 at p = 0.6)
    Edge cases  p = ½ needs endless votes: `InputError`

    >>> votes_needed(0.6), votes_needed(0.7)
    (194, 47)
    >>> votes_needed(0.6, tie_share=0.2)
    243
    """
    for name, value in (("preference", preference), ("power", power), ("alpha", alpha)):
        if not 0.0 < value < 1.0:
            raise InputError(f"{name} is a share between 0 and 1; got {value}")
    if preference == 0.5 or not 0.0 <= tie_share < 1.0:
        raise InputError(
            f"expected a preference other than 0.5 and a tie share below 1; got {preference} and {tie_share}"
        )
    z_alpha, z_power = normal_quantile(1.0 - alpha / 2.0), normal_quantile(power)
    spread = z_alpha / 2.0 + z_power * math.sqrt(preference * (1.0 - preference))
    decided = (spread / abs(preference - 0.5)) ** 2
    return math.ceil(math.ceil(decided) / (1.0 - tie_share) - 1e-9)
