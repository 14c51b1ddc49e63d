"""The Fréchet distance between two sets of features, exactly: pure maths, float64.

By QR, then the nuclear norm: tr√(Σ₁Σ₂) = ‖X Yᵀ‖_* / √((n − δ)(m − δ)) for centred X (n × D) and Y (m × D): the singular
values of a small matrix in place of the square root of a large one, so the result is never complex and needs no
epsilon.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core.errors import InputError

Floats: TypeAlias = NDArray[np.float64]

# A difference of traces smaller than this share of them is rounding, not distance.
_ROUNDING = 1e-12


def frechet_distance(one: ArrayLike, other: ArrayLike, *, ddof: int = 1) -> float:
    """Squared Fréchet (2-Wasserstein) distance between Gaussians fitted to two sets of features.

    Formula     ‖μ₁ − μ₂‖² + tr Σ₁ + tr Σ₂ − 2·tr√(Σ₁Σ₂), with Σ = XᵀX / (n − ddof) of the centred features
    Unit        squared feature units; 0 for identical sets, no upper bound.
    Inputs      (n, D) and (m, D) features; n and m may differ. ddof 1 gives the 1/(N−1) covariance, 0 the 1/N.
    Edge cases  fewer than two rows, unequal D, NaN or infinity, features whose squares overflow: `InputError`. What is
                below the rounding of the traces counts as 0, so identical sets give exactly 0 in any order.
    Reference   Dowson & Landau 1982; Heusel et al. 2017; Unterthiner et al. 2018.

    >>> frechet_distance([[0.0], [2.0]], [[3.0], [5.0]])
    9.0
    """
    given_x, given_y = checked_pair(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        mean_x, mean_y = given_x.mean(axis=0), given_y.mean(axis=0)
        x, y = given_x - mean_x, given_y - mean_y
        scale_x, scale_y = len(x) - ddof, len(y) - ddof
        spread = float(np.vdot(x, x)) / scale_x + float(np.vdot(y, y)) / scale_y
        gap = mean_x - mean_y
        require_finite(spread + float(np.vdot(gap, gap)), given_x, given_y)
    shared = _nuclear_norm(x, y) / np.sqrt(float(scale_x) * scale_y)
    return _distance(gap, spread, shared)


def _distance(gap: Floats, spread: float, shared: float) -> float:
    between = spread - 2 * shared
    if abs(between) <= _ROUNDING * spread:
        between = 0.0
    squared = float(np.vdot(gap, gap))
    if squared <= (_ROUNDING**2) * spread:
        squared = 0.0
    return max(squared + between, 0.0)


def checked_pair(one: ArrayLike, other: ArrayLike) -> tuple[Floats, Floats]:
    """Two sets of features that a distance can be taken between; `InputError` says what is wrong with them."""
    x, y = checked_features(one, "the first set"), checked_features(other, "the second set")
    if x.shape[1] != y.shape[1]:
        raise InputError(f"expected features of one width; got {x.shape[1]} and {y.shape[1]}")
    return x, y


def require_finite(total: float, x: Floats, y: Floats) -> None:
    """`InputError` where a sum over the features has overflowed: a NaN would be a number without a meaning."""
    if not np.isfinite(total):
        largest = max(float(np.abs(x).max()), float(np.abs(y).max()))
        raise InputError(
            f"features of up to {largest:.0e} are too large: a distance would overflow; check the weights "
            "and the clips, or scale the features down"
        )


def checked_features(features: ArrayLike, what: str) -> Floats:
    values = np.asarray(features, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(f"{what}: expected features as rows of a matrix; got shape {values.shape}")
    if len(values) < 2:
        raise InputError(f"{what}: a covariance needs at least two clips; got {len(values)}")
    if not np.isfinite(values).all():
        raise InputError(f"{what}: holds NaN or infinite features; check the weights and the clips")
    return values


def _nuclear_norm(x: Floats, y: Floats) -> float:
    """‖X Yᵀ‖_*; a tall matrix is replaced by the triangle of its QR, which has the same singular values."""
    product = _short(x) @ _short(y).T
    return float(np.linalg.svd(product, compute_uv=False).sum())


def _short(x: Floats) -> Floats:
    return np.asarray(np.linalg.qr(x, mode="r"), np.float64) if x.shape[0] > x.shape[1] else x
