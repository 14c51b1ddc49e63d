"""How many votes does a study need? Power of the sign test.

Formula     n = ((z_{1−α/2} ½ + z_{power} √(p(1−p))) / (p − ½))², rounded up: decided votes needed to tell a true
            preference share p from an even one
Unit        non-tied votes on one pair of systems, taken as independent; divide by (1 − share of ties) for all votes
Caution     the exact test is a little more careful than the normal one behind the formula (0.76 for 0.80 at p = 0.6)
Edge cases  p = ½ needs endless votes: `InputError`
"""

from __future__ import annotations

import math

from rushes.errors import InputError
from rushes.preference.statistics.quantiles import normal_quantile


def votes_needed(preference: float, *, power: float = 0.8, alpha: float = 0.05, tie_share: float = 0.0) -> int:
    """Votes on one pair of systems that a sign test needs.

    >>> votes_needed(0.6), votes_needed(0.7)
    (194, 47)
    >>> votes_needed(0.6, tie_share=0.2)
    243
    """
    for name, value in (("preference", preference), ("power", power), ("alpha", alpha)):
        if not 0.0 < value < 1.0:
            raise InputError(f"{name} is a share between 0 and 1; got {value}")
    if preference == 0.5 or not 0.0 <= tie_share < 1.0:
        raise InputError(f"a preference other than 0.5 and fewer ties than votes; got {preference} and {tie_share}")
    z_alpha, z_power = normal_quantile(1.0 - alpha / 2.0), normal_quantile(power)
    spread = z_alpha / 2.0 + z_power * math.sqrt(preference * (1.0 - preference))
    decided = (spread / abs(preference - 0.5)) ** 2
    return math.ceil(math.ceil(decided) / (1.0 - tie_share) - 1e-9)
