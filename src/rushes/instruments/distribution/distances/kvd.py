"""Kernel video distance: squared maximum mean discrepancy under a polynomial kernel. Pure maths, float64.

Unbiased at every N, so it is the honest choice for small sets; a value a little below 0 means "no difference seen".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.instruments.distribution.distances.frechet import checked_pair, require_finite

_BLOCK = 1024  # rows of a kernel matrix held at once

DEGREE = 3
COEF0 = 1.0


def polynomial_mmd(
    one: ArrayLike,
    other: ArrayLike,
    *,
    degree: int = DEGREE,
    gamma: float | None = None,
    coef0: float = COEF0,
    unbiased: bool = True,
) -> float:
    """Squared MMD between two sets of features under k(a, b) = (γ·aᵀb + c)^degree.

    Formula     unbiased: Σ_{i≠j} k(xᵢ,xⱼ)/(n(n−1)) + Σ_{i≠j} k(yᵢ,yⱼ)/(m(m−1)) − 2·Σ k(xᵢ,yⱼ)/(nm);
                biased: the same with the diagonals counted and 1/n², 1/m²
    Unit        kernel units; 0 is the expected value for equal distributions, negative values are chance.
    Inputs      (n, D) and (m, D) features; γ is 1/D when left out.
    Edge cases  fewer than two rows, unequal D, NaN or infinity, features whose kernel overflows: `InputError`.
    Reference   Gretton et al. 2012; Bińkowski et al. 2018 (degree 3, γ = 1/D, c = 1); Unterthiner et al. 2018 (KVD).
    """
    x, y = checked_pair(one, other)
    scale = 1.0 / x.shape[1] if gamma is None else gamma
    n, m = len(x), len(y)

    def total(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
        return sum(
            float(np.sum((scale * (a[i : i + _BLOCK] @ b.T) + coef0) ** degree)) for i in range(0, len(a), _BLOCK)
        )

    with np.errstate(over="ignore", invalid="ignore"):
        within_x, within_y, across = total(x, x), total(y, y), total(x, y)
    require_finite(within_x + within_y - 2 * across, x, y)
    if not unbiased:
        return within_x / n**2 + within_y / m**2 - 2 * across / (n * m)
    within_x -= _diagonal(x, degree, scale, coef0)
    within_y -= _diagonal(y, degree, scale, coef0)
    return within_x / (n * (n - 1)) + within_y / (m * (m - 1)) - 2 * across / (n * m)


def _diagonal(x: NDArray[np.float64], degree: int, scale: float, coef0: float) -> float:
    return float(np.sum((scale * np.einsum("ij,ij->i", x, x) + coef0) ** degree))
