"""The point at which a tail of a distribution has a given probability."""

from __future__ import annotations

import math
from collections.abc import Callable

_STEPS = 200
_SETTLED = 1e-9
_FURTHEST = 700.0


def tail_inverse(tail: Callable[[float], tuple[float, float]], target: float, start: float) -> float:
    """The x > 0 with tail(x) = `target`; `tail` gives the probability, and how fast it changes with x, signed.

    Formula     Newton's method in s = ln x: s ← s − (ln tail − ln target) · tail / (x · tail′)
    Inputs      0 < target < 1; start > 0, where the tail is not 0; the density of ln x is log-concave, as it is for χ²,
                for |t|, and for beta with b ≥ 1
    Accuracy    the relative error of `tail` over |x · tail′ / tail|. Both tails of a log-concave density are
                log-concave, so after one step all others approach from one side, the last one quadratically
    Edge cases  a step to where the tail underflows is halved
    Reference   Bagnoli and Bergstrom 2005 on log-concave tails
    """
    s, wanted = math.log(start), math.log(target)
    value, slope = tail(start)
    for _ in range(_STEPS):
        step = (math.log(value) - wanted) * value / (math.exp(s) * slope)
        while not all(found := tail(math.exp(max(-_FURTHEST, min(_FURTHEST, s - step))))):
            step /= 2.0
        s, (value, slope) = s - step, found
        if abs(step) < _SETTLED:
            break
    return math.exp(s)
