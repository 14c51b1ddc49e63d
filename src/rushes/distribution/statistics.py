"""What surrounds a distance: intervals, and the extrapolation to infinitely many clips.

The bias of a Fréchet distance shrinks as 1/N and is far larger than its spread. So intervals come from subsampling
without replacement or the jackknife (a bootstrap repeats clips, which adds bias), and FVD∞ is fitted on N ≥ D only.
Everything is drawn and left out by video (`Sample`): the rows of one video go together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rushes.core import Interval
from rushes.distribution.frechet import frechet_distance
from rushes.distribution.sample import Floats, Sample, sample_of
from rushes.errors import InputError

Distance: TypeAlias = Callable[[Floats, Floats], float]
IntervalMethod: TypeAlias = Literal["subsampling", "jackknife"]

SUBSAMPLES = 200
JACKKNIFE_GROUPS = 20
EXTRAPOLATION_SIZES = 12
EXTRAPOLATION_REPEATS = 4
LEVEL = 0.95
_Z = 1.959963984540054  # the normal distribution's 97.5 % point


def distance_interval(
    method: IntervalMethod, one: Floats | Sample, other: Floats | Sample, distance: Distance, *, seed: int = 0
) -> Interval:
    """95 % interval by the method named; `seed` draws the halves of subsampling."""
    if method == "jackknife":
        return jackknife_interval(one, other, distance)
    return subsampling_interval(one, other, distance, seed=seed)


def subsampling_interval(
    one: Floats | Sample, other: Floats | Sample, distance: Distance, *, seed: int = 0, draws: int = SUBSAMPLES
) -> Interval:
    """95 % interval from random halves of both sets.

    Formula     d + quantiles(d_b − mean d_b) at 2.5 and 97.5 %. A half drawn without replacement varies around its
                mean as the whole does around its own: Var(d_b) ≈ V(1/b − 1/n) = V/n for b = n/2.
    Edge cases  fewer than four clips in a set: `InputError`, since half of it has no covariance. Rows of one video are
                drawn together.
    Reference   Politis, Romano & Wolf 1999; Shao & Wu 1989 (delete-half).
    """
    x, y = sample_of(one), sample_of(other)
    if min(x.count, y.count) < 4:
        raise InputError(f"a subsampling interval needs four clips in each set; got {x.count} and {y.count}")
    draw = np.random.RandomState(seed)
    values = np.array(
        [distance(x.drawn(draw, x.count // 2).rows, y.drawn(draw, y.count // 2).rows) for _ in range(draws)]
    )
    low, high = np.quantile(values - values.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    whole = distance(x.rows, y.rows)
    method = f"subsampling-halves-{draws}-seed{seed}"
    return Interval(low=whole + float(low), high=whole + float(high), level=LEVEL, method=method)


def jackknife_interval(one: Floats | Sample, other: Floats | Sample, distance: Distance) -> Interval:
    """95 % interval from leaving out one of up to 20 fixed groups at a time, in each set by turns.

    Formula     se² = Σ over both sets of (g − 1)/g · Σ(d_(i) − mean d_(i))²;  d ± 1.96·se. Group i is videos i, i+g, ….
    Edge cases  fewer than three clips in a set: `InputError`, since one less has no covariance. Rows of one video are
                left out together.
    Reference   Quenouille 1956; Tukey 1958; Arvesen 1969 for two samples.
    """
    x, y = sample_of(one), sample_of(other)
    if min(x.count, y.count) < 3:
        raise InputError(f"a jackknife interval needs three clips in each set; got {x.count} and {y.count}")
    whole = distance(x.rows, y.rows)
    variance = left_out(x.count, whole, lambda kept: distance(x.of(kept).rows, y.rows)).variance
    variance += left_out(y.count, whole, lambda kept: distance(x.rows, y.of(kept).rows)).variance
    return normal_interval(whole, variance, f"jackknife-{JACKKNIFE_GROUPS}")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What leaving out groups of videos says about a value."""

    variance: float
    bias: float


def left_out(videos: int, whole: float, value: Callable[[list[int]], float]) -> LeftOut:
    """The jackknife: `value` is given the videos that are kept, once for each group left out; `whole` is of them all.

    Formula     variance = (g − 1)/g · Σ(v_(i) − mean v_(i))² over g groups, as many as 20 and no more than videos;
                bias = mean of (N − n_i)/n_i · (v_(i) − v), n_i the videos of group i: exact for a bias of c/N
    Reference   Quenouille 1956; Tukey 1958; Busing et al. 1999 for groups that differ by one.
    """
    groups = min(videos, JACKKNIFE_GROUPS)
    parts = [[n for n in range(videos) if n % groups != group] for group in range(groups)]
    values = np.array([value(kept) for kept in parts])
    weights = np.array([len(kept) / (videos - len(kept)) for kept in parts])
    variance = (groups - 1) / groups * np.sum((values - values.mean()) ** 2)
    return LeftOut(variance=float(variance), bias=float(np.mean(weights * (values - whole))))


def normal_interval(value: float, variance: float, method: str) -> Interval:
    """value ± 1.96·√variance, at 95 %."""
    reach = _Z * float(np.sqrt(variance))
    return Interval(low=value - reach, high=value + reach, level=LEVEL, method=method)


def extrapolated(
    one: Floats | Sample, other: Floats | Sample, distance: Distance = frechet_distance, *, seed: int = 0
) -> float:
    """The distance at infinitely many clips: the intercept of a line in 1/N.

    Formula     least squares of d(N) = d∞ + s/N over 12 sizes from D to the smaller set, 4 random subsets each
    Edge cases  fewer clips than D + 1 in a set: `InputError`. Below D the bias is not a line in 1/N.
    Reference   Chong & Forsyth 2020 (FID∞).
    """
    x, y = sample_of(one), sample_of(other)
    width, most = x.rows.shape[1], min(x.count, y.count)
    if most <= width:
        raise InputError(
            f"extrapolation needs more clips than features: more than {width} in each set; got {x.count} and "
            f"{y.count}; use kvd for small sets"
        )
    draw = np.random.RandomState(seed)
    sizes = np.unique(np.linspace(width, most, EXTRAPOLATION_SIZES).round().astype(int))
    inverse, values = [], []
    for size in sizes:
        for _ in range(EXTRAPOLATION_REPEATS):
            inverse.append(1.0 / size)
            values.append(distance(x.drawn(draw, int(size)).rows, y.drawn(draw, int(size)).rows))
    design = np.stack([np.ones(len(inverse)), np.array(inverse)], axis=1)
    return float(np.linalg.lstsq(design, np.array(values), rcond=None)[0][0])
