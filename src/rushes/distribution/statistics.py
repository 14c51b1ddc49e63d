"""What surrounds a distance: mergeable sums, intervals, and the extrapolation to infinitely many clips.

The bias of a Fréchet distance shrinks as 1/N and is far larger than its spread. So intervals come from subsampling
without replacement or the jackknife (a bootstrap repeats clips, which adds bias), and FVD∞ is fitted on N ≥ D only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.distribution.frechet import frechet_distance
from rushes.errors import InputError

Floats = NDArray[np.float64]
Distance: TypeAlias = Callable[[Floats, Floats], float]
IntervalMethod: TypeAlias = Literal["subsampling", "jackknife"]

SUBSAMPLES = 200
JACKKNIFE_GROUPS = 20
EXTRAPOLATION_SIZES = 12
EXTRAPOLATION_REPEATS = 4
LEVEL = 0.95
_Z = 1.959963984540054  # the normal distribution's 97.5 % point
SHARD = 256
"""Rows summed together; fixed, so that sums have the same bits however the work was spread."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and scatter Σ(x − μ)(x − μ)ᵀ: partial sums that merge without the rows."""

    count: int
    mean: Floats
    scatter: Floats

    @classmethod
    def of(cls, features: Floats) -> Moments:
        """Moments of rows, shard by shard in row order."""
        shards = [features[start : start + SHARD] for start in range(0, len(features), SHARD)]
        return merge_moments([cls._of_shard(np.asarray(shard, np.float64)) for shard in shards])

    @classmethod
    def _of_shard(cls, rows: Floats) -> Moments:
        mean = rows.mean(axis=0)
        centred = rows - mean
        return cls(len(rows), mean, centred.T @ centred)

    def merged(self, other: Moments) -> Moments:
        """Formula (Chan et al. 1983): M = M₁ + M₂ + δδᵀ·n₁n₂/n, μ = μ₁ + δ·n₂/n, with δ = μ₂ − μ₁."""
        count = self.count + other.count
        gap = other.mean - self.mean
        scatter = self.scatter + other.scatter + np.outer(gap, gap) * (self.count * other.count / count)
        return Moments(count, self.mean + gap * (other.count / count), scatter)

    def covariance(self, *, ddof: int = 1) -> Floats:
        if self.count <= ddof:
            raise InputError(f"a covariance needs at least {ddof + 1} clips; got {self.count}")
        return self.scatter / (self.count - ddof)


def merge_moments(parts: Sequence[Moments]) -> Moments:
    """All parts, merged in the given order."""
    if not parts:
        raise InputError("expected at least one part to merge; got none")
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merged(part)
    return whole


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def subsampling_interval(
    one: Floats, other: Floats, distance: Distance, *, seed: int = 0, draws: int = SUBSAMPLES
) -> Interval:
    """95 % interval from random halves of both sets.

    Formula     d + quantiles(d_b − mean d_b) at 2.5 and 97.5 %. A half drawn without replacement varies around its
                mean as the whole does around its own: Var(d_b) ≈ V(1/b − 1/n) = V/n for b = n/2.
    Edge cases  fewer than four clips in a set: `InputError`, since half of it has no covariance.
    Reference   Politis, Romano & Wolf 1999; Shao & Wu 1989 (delete-half).
    """
    if min(len(one), len(other)) < 4:
        raise InputError(f"a subsampling interval needs four clips in each set; got {len(one)} and {len(other)}")
    draw = np.random.RandomState(seed)
    values = np.array(
        [distance(_part(draw, one, len(one) // 2), _part(draw, other, len(other) // 2)) for _ in range(draws)]
    )
    low, high = np.quantile(values - values.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    whole = distance(one, other)
    return Interval(whole + float(low), whole + float(high))


def jackknife_interval(one: Floats, other: Floats, distance: Distance) -> Interval:
    """95 % interval from leaving out one of up to 20 fixed groups at a time, in each set by turns.

    Formula     se² = Σ over both sets of (g − 1)/g · Σ(d_(i) − mean d_(i))²;  d ± 1.96·se. Group i is rows i, i+g, ….
    Edge cases  fewer than three clips in a set: `InputError`, since one less has no covariance.
    Reference   Quenouille 1956; Tukey 1958; Arvesen 1969 for two samples.
    """
    if min(len(one), len(other)) < 3:
        raise InputError(f"a jackknife interval needs three clips in each set; got {len(one)} and {len(other)}")
    variance = _left_out_variance(one, lambda rows: distance(rows, other))
    variance += _left_out_variance(other, lambda rows: distance(one, rows))
    whole, reach = distance(one, other), _Z * float(np.sqrt(variance))
    return Interval(whole - reach, whole + reach)


def _left_out_variance(rows: Floats, value: Callable[[Floats], float]) -> float:
    groups = min(len(rows), JACKKNIFE_GROUPS)
    membership = np.arange(len(rows)) % groups
    values = np.array([value(rows[membership != group]) for group in range(groups)])
    return float((groups - 1) / groups * np.sum((values - values.mean()) ** 2))


def extrapolated(one: Floats, other: Floats, distance: Distance = frechet_distance, *, seed: int = 0) -> float:
    """The distance at infinitely many clips: the intercept of a line in 1/N.

    Formula     least squares of d(N) = d∞ + s/N over 12 sizes from D to the smaller set, 4 random subsets each
    Edge cases  fewer clips than D + 1 in a set: `InputError`. Below D the bias is not a line in 1/N.
    Reference   Chong & Forsyth 2020 (FID∞).
    """
    width, most = one.shape[1], min(len(one), len(other))
    if most <= width:
        raise InputError(
            f"extrapolation needs more clips than features: more than {width} in each set; got {len(one)} and "
            f"{len(other)}; use kvd for small sets"
        )
    draw = np.random.RandomState(seed)
    sizes = np.unique(np.linspace(width, most, EXTRAPOLATION_SIZES).round().astype(int))
    inverse, values = [], []
    for size in sizes:
        for _ in range(EXTRAPOLATION_REPEATS):
            inverse.append(1.0 / size)
            values.append(distance(_part(draw, one, int(size)), _part(draw, other, int(size))))
    design = np.stack([np.ones(len(inverse)), np.array(inverse)], axis=1)
    return float(np.linalg.lstsq(design, np.array(values), rcond=None)[0][0])


def _part(draw: np.random.RandomState, rows: Floats, size: int) -> Floats:
    return rows[np.sort(draw.permutation(len(rows))[:size])]
