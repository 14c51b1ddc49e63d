"""Precision, recall, density and coverage: where two sets of features lie, by balls around points. Pure maths, float64.

A distance says how far apart two sets are, not why. Precision and density ask whether generated clips look like real
ones, recall and coverage whether the real ones are all there. Distances between points are summed in one fixed order
(`cdist`), so a clip that lies in both sets is at exactly the same distance from everything: ties are ties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushes.core.errors import InputError
from rushes.instruments.distribution.distances.frechet import checked_pair, require_finite

_BLOCK = 1024
"""Points whose distances to a whole set are held at once."""

PRECISION_K = 3
DENSITY_K = 5

Floats: TypeAlias = NDArray[np.float64]


def precision(gen: ArrayLike, gt: ArrayLike, *, k: int = PRECISION_K) -> float:
    """Share of generated points that lie near real ones: improved precision.

    Formula     #{y ∈ gen: ‖y − x‖ ≤ r_k(x) for some x ∈ gt} / n_gen;  r_k(x) is the distance from x to its k-th nearest
                neighbour among the others of its set
    Unit        ratio, 0 to 1; higher is better. 1: every generated point is inside the real manifold.
    Inputs      (n, D) generated and (m, D) real features. The ball is closed.
    Edge cases  not more than k points in gt, unequal D, NaN: `InputError`. Real outliers have large balls and raise it.
    Reference   Kynkäänniemi et al. 2019 (k = 3).
    """
    y, x = _checked(gen, gt, k, "the ground-truth set", second=True)
    inside = _per_point(y, x, radii(x, k), lambda squared, ball: (squared <= ball).any(axis=1))
    return float(np.mean(inside))


def recall(gen: ArrayLike, gt: ArrayLike, *, k: int = PRECISION_K) -> float:
    """Share of real points that lie near generated ones: precision with the two sets exchanged.

    Edge cases  as precision's, with the generated set's balls. Generated outliers raise it, and it falls with fewer
                clips in either set: compare at one N.
    Reference   Kynkäänniemi et al. 2019 (k = 3).
    """
    y, x = _checked(gen, gt, k, "the generated set", second=False)
    inside = _per_point(x, y, radii(y, k), lambda squared, ball: (squared <= ball).any(axis=1))
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
    y, x = _checked(gen, gt, k, "the ground-truth set", second=True)
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
    y, x = _checked(gen, gt, k, "the ground-truth set", second=True)
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
    from scipy.spatial.distance import cdist

    ball = np.empty(0) if balls is None else balls
    parts = [
        np.asarray(ask(cdist(points[start : start + _BLOCK], others, "sqeuclidean"), ball), np.float64)
        for start in range(0, len(points), _BLOCK)
    ]
    return np.concatenate(parts)


def _checked(gen: ArrayLike, gt: ArrayLike, k: int, what: str, *, second: bool) -> tuple[Floats, Floats]:
    y, x = checked_pair(gen, gt)
    if k < 1:
        raise InputError(f"k counts neighbours, from 1; got {k}")
    count = len(x if second else y)
    if count <= k:
        raise InputError(f"{what}: the {k} nearest neighbours of a clip need more than {k} clips; got {count}")
    with np.errstate(over="ignore"):
        largest = max(float(np.abs(x).max()), float(np.abs(y).max()))
        require_finite(4 * largest * largest * x.shape[1], x, y)
    return y, x
