"""What surrounds a distance: intervals, and the extrapolation to infinitely many clips.

The bias of a Fréchet distance shrinks as 1/N and is far larger than its spread. So intervals come from subsampling
without replacement or the jackknife (a bootstrap repeats clips, which adds bias), and FVD∞ is fitted on N ≥ D only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Interval
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
    method = f"subsampling-halves-{draws}-seed{seed}"
    return Interval(low=whole + float(low), high=whole + float(high), level=LEVEL, method=method)


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
    return Interval(low=whole - reach, high=whole + reach, level=LEVEL, method=f"jackknife-{JACKKNIFE_GROUPS}")


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
