"""Continued fractions, summed up from their first term on."""

from __future__ import annotations

from collections.abc import Iterable

_TINY = 1e-300
_SETTLED = 3e-16


def continued_fraction(first: float, terms: Iterable[tuple[float, float]]) -> float:
    """b₀ + a₁/(b₁ + a₂/(b₂ + …)) from b₀ and the pairs (aₙ, bₙ), up to the first that changes nothing.

    Reference   Lentz 1976, with Thompson and Barnett's small number where a denominator is 0

    >>> from itertools import repeat
    >>> round(continued_fraction(1.0, repeat((1.0, 2.0))), 12)  # √2
    1.414213562373
    """
    found = c = _off_zero(first)
    d = 0.0
    for a, b in terms:
        d = 1.0 / _off_zero(b + a * d)
        c = _off_zero(b + a / c)
        found *= c * d
        if not abs(c * d - 1.0) > _SETTLED:
            break
    return found


def _off_zero(value: float) -> float:
    return value if value else _TINY
