"""From the features of two sets to a number: pure maths, float64.

The Fréchet distance itself is `rushes.stats.frechet`; here is VideoGPT's float32 reading of it.

The kernel video distance: squared maximum mean discrepancy under a polynomial kernel. Unbiased at every N, so it is the
honest choice for small sets; a value a little below 0 means "no difference seen".

Precision, recall, density and coverage: where two sets of features lie, by balls around points. A distance says how far
apart two sets are, not why. Precision and density ask whether generated clips look like real ones, recall and coverage
whether the real ones are all there. Distances between points are summed in one fixed order (`squared_distances`), so a
clip that lies in both sets is at exactly the same distance from everything: ties are ties.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core.errors import InputError
from rushes.native import c_function
from rushes.stats.frechet import Floats, checked_pair, require_finite

_BLOCK = 1024
"""Rows of a kernel matrix, or of a matrix of distances, held at once."""

DEGREE = 3
COEF0 = 1.0
_TOGETHER = 32
"""Points whose distances are added up side by side, as in distances.c."""
PRECISION_K = 3
DENSITY_K = 5


def frechet_single(one: ArrayLike, other: ArrayLike, *, ddof: int = 1) -> float:
    """The distance as VideoGPT's code computes it: float32 covariances, square roots by float32 SVD.

    Kept so that its published numbers can be repeated; it is off by up to a few per cent. Formula as above, with
    tr√(Σ₁Σ₂) = tr√(√Σ₁ Σ₂ √Σ₁) and singular values below 1e-10 left as they are.
    """
    given_x, given_y = checked_pair(one, other)
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = given_x.astype(np.float32), given_y.astype(np.float32)
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        sigma_x, sigma_y = ((p - m).T @ (p - m) / np.float32(len(p) - ddof) for p, m in ((x, mean_x), (y, mean_y)))
        apart = float(np.sum((mean_x - mean_y) ** 2))
        # what the root is taken of grows as the fourth power of the features
        require_finite(float(np.sum(sigma_x @ sigma_y)) + apart, given_x, given_y)
    root = _root_single(sigma_x)
    shared = np.trace(_root_single(root @ (sigma_y @ root)))
    return max(float(np.trace(sigma_x + sigma_y) - 2 * shared + apart), 0.0)


def _root_single(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    u, s, vt = np.linalg.svd(matrix)
    root: NDArray[np.float32] = (u * np.where(s < 1e-10, s, np.sqrt(s))) @ vt
    return root


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

    def total(a: Floats, b: Floats) -> float:
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


def _diagonal(x: Floats, degree: int, scale: float, coef0: float) -> float:
    return float(np.sum((scale * np.einsum("ij,ij->i", x, x) + coef0) ** degree))


def precision(gen: ArrayLike, gt: ArrayLike, *, k: int = PRECISION_K) -> float:
    """Share of generated points that lie near real ones: improved precision.

    Formula     #{y ∈ gen: ‖y − x‖ ≤ r_k(x) for some x ∈ gt} / n_gen;  r_k(x) is the distance from x to its k-th nearest
                neighbour among the others of its set
    Unit        ratio, 0 to 1; higher is better. 1: every generated point is inside the real manifold.
    Inputs      (n, D) generated and (m, D) real features. The ball is closed.
    Edge cases  not more than k points in gt, unequal D, NaN: `InputError`. Real outliers have large balls and raise it.
    Reference   Kynkäänniemi et al. 2019 (k = 3).
    """
    return _share_inside(*_checked(gen, gt, k), k)


def recall(gen: ArrayLike, gt: ArrayLike, *, k: int = PRECISION_K) -> float:
    """Share of real points that lie near generated ones: precision with the two sets exchanged.

    Edge cases  as precision's, with the generated set's balls. Generated outliers raise it, and it falls with fewer
                clips in either set: compare at one N.
    Reference   Kynkäänniemi et al. 2019 (k = 3).
    """
    y, x = _checked(gen, gt, k, of="generated")
    return _share_inside(x, y, k)


def _share_inside(points: Floats, centres: Floats, k: int) -> float:
    """Share of points within the closed ball of some centre."""
    inside = _per_point(points, centres, radii(centres, k), lambda squared, ball: (squared <= ball).any(axis=1))
    return float(np.mean(inside))


def density(gen: ArrayLike, gt: ArrayLike, *, k: int = DENSITY_K) -> float:
    """How densely generated points lie among real ones: in how many real balls each lies, on average, over k.

    Formula     #{(x, y): ‖y − x‖ < r_k(x)} / (k · n_gen)
    Unit        ratio, 0 and up; higher is better. Its expectation is 1 for equal distributions, and it may pass 1 where
                generated points crowd around the densest real ones.
    Inputs      as precision's. The ball is open, as in the authors' code: a copy of the real set has exactly 1.
    Edge cases  not more than k points in gt: `InputError`.
    Reference   Naeem et al. 2020 (k = 5).
    """
    y, x = _checked(gen, gt, k)
    balls = _per_point(y, x, radii(x, k), lambda squared, ball: (squared < ball).sum(axis=1))
    return float(np.sum(balls)) / (k * len(y))


def coverage(gen: ArrayLike, gt: ArrayLike, *, k: int = DENSITY_K) -> float:
    """Share of real points that have a generated one nearby: closer than their k-th nearest real neighbour.

    Formula     #{x ∈ gt: ‖y − x‖ < r_k(x) for some y ∈ gen} / n_gt
    Unit        ratio, 0 to 1; higher is better. For equal distributions and sizes about 1 − 2^−k (0.97 for k = 5).
    Inputs      as density's.
    Edge cases  not more than k points in gt: `InputError`. It rises with n_gen: compare at one N.
    Reference   Naeem et al. 2020 (k = 5).
    """
    y, x = _checked(gen, gt, k)
    nearest = _per_point(x, y, None, lambda squared, _: squared.min(axis=1))
    return float(np.mean(nearest < radii(x, k)))


def radii(points: Floats, k: int) -> Floats:
    """Squared distance of each point to its k-th nearest neighbour; the point itself does not count.

    >>> radii(np.array([[0.0], [1.0], [3.0]]), 1).tolist()
    [1.0, 1.0, 4.0]
    """
    return _per_point(points, points, None, lambda squared, _: np.partition(squared, k, axis=1)[:, k])


def _per_point(
    points: Floats, others: Floats, balls: Floats | None, ask: Callable[[Floats, Floats], ArrayLike]
) -> Floats:
    """`ask` of each point's squared distances to all others, a block of points at a time."""
    ball = np.empty(0) if balls is None else balls
    parts = [
        np.asarray(ask(squared_distances(points[start : start + _BLOCK], others), ball), np.float64)
        for start in range(0, len(points), _BLOCK)
    ]
    return np.concatenate(parts)


def squared_distances(points: Floats, others: Floats) -> Floats:
    """‖x − y‖² of every two, points × others, added up along the coordinates in their order.

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0], [9.0]]
    """
    one, other = (np.ascontiguousarray(side, np.float64) for side in (points, others))
    found, room = np.empty((len(one), len(other))), np.empty((one.shape[1], _TOGETHER))
    call = c_function("squared_distances", "float64* int64 float64* int64 int64 float64* float64*")
    places = (room.ctypes.data, found.ctypes.data)
    call(one.ctypes.data, len(one), other.ctypes.data, len(other), one.shape[1], *places)
    return found


def _checked(gen: ArrayLike, gt: ArrayLike, k: int, *, of: str = "ground-truth") -> tuple[Floats, Floats]:
    """Both sets; `InputError` where the one that the balls are `of` has too few points for them."""
    y, x = checked_pair(gen, gt)
    if k < 1:
        raise InputError(f"expected k of 1 or more neighbours; got {k}")
    count = len(y if of == "generated" else x)
    if count <= k:
        raise InputError(f"the {of} set: the {k} nearest neighbours of a clip need more than {k} clips; got {count}")
    with np.errstate(over="ignore"):
        largest = max(float(np.abs(x).max()), float(np.abs(y).max()))
        require_finite(4 * largest * largest * x.shape[1], x, y)
    return y, x
