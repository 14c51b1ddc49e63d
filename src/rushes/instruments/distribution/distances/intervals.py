"""What surrounds a distance: intervals, and the extrapolation to infinitely many clips.

The bias of a Fréchet distance shrinks as 1/N and is far larger than its spread. So intervals come from subsampling
without replacement or the jackknife (a bootstrap repeats clips, which adds bias), and FVD∞ is fitted on N ≥ D only.

Everything is drawn and left out by video (`Sample`), never by row. Where a protocol makes several rows of one video
(windows), they resemble each other; counted as independent they would make every interval too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rushes.core import Interval
from rushes.core.errors import InputError
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.stats.frechet import frechet_distance
from rushes.stats.intervals import LEVEL, normal_interval
from rushes.stats.jackknife import JACKKNIFE_GROUPS, left_out

Floats: TypeAlias = NDArray[np.float64]
Distance: TypeAlias = Callable[[Floats, Floats], float]
IntervalMethod: TypeAlias = Literal["subsampling", "jackknife"]

SUBSAMPLES = 200
EXTRAPOLATION_SIZES = 12
EXTRAPOLATION_REPEATS = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of features, and which video each belongs to.

    >>> Sample(np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1])).of([1]).rows.tolist()
    [[3.0]]
    """

    rows: Floats
    units: NDArray[np.intp]
    """The video of each row, numbered from 0 in order of first appearance."""

    @property
    def count(self) -> int:
        """Videos."""
        return int(self.units.max()) + 1 if len(self.units) else 0

    def of(self, videos: Sequence[int] | NDArray[np.intp]) -> Sample:
        """The rows of these videos, in order; they are numbered anew."""
        kept = np.isin(self.units, videos)
        return Sample(self.rows[kept], np.unique(self.units[kept], return_inverse=True)[1])

    def drawn(self, draw: np.random.RandomState, size: int) -> Sample:
        """So many videos at random, without replacement, in their order."""
        return self.of(np.sort(draw.permutation(self.count)[:size]))


def sample_of(rows: Floats | FeatureSet | Sample) -> Sample:
    """A set as a sample; an array has a video in each row."""
    if isinstance(rows, Sample):
        return rows
    if isinstance(rows, FeatureSet):
        numbers = {name: number for number, name in enumerate(rows.videos)}
        units = np.array([numbers[name] for name in rows.names], dtype=np.intp)
        return Sample(rows.features.astype(np.float64), units)
    return Sample(rows, np.arange(len(rows)))


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
