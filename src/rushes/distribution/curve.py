"""A metric against the number of clips: how much of it is bias.

A Fréchet distance falls as N grows, whatever the sets. The curve shows by how much, on these very clips; over 1/N it is
a line once N is above D, and where the line meets 0 is the value at infinitely many clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rushes.core import Measurement
from rushes.distribution.definitions import bound_definition, extrapolated_definition, family
from rushes.distribution.distances import distance_of
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.protocols import Metric, Recipe
from rushes.distribution.sample import Sample, sample_of
from rushes.distribution.statistics import extrapolated
from rushes.errors import InputError

SIZES = 6
SUBSETS = 4
_LEAST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What every number of a run has in its signature besides its recipe."""

    weights: str
    precision: str


def curve_sizes(most: int, d: int) -> list[int]:
    """Numbers of clips, each half of the next, up to the smaller set; none below 4.

    Where there are more clips than features, three more from D on: there the curve is a line in 1/N.

    >>> curve_sizes(256, 400), curve_sizes(20, 400), curve_sizes(700, 400)
    ([8, 16, 32, 64, 128, 256], [5, 10, 20], [21, 43, 87, 175, 350, 400, 500, 600, 700])
    """
    halves = {most >> halvings for halvings in range(SIZES) if most >> halvings >= _LEAST}
    above = {d + round(third * (most - d) / 3) for third in range(3)} if most > d else set()
    return sorted(halves | above)


def curve_measurements(
    metric: Metric, recipe: Recipe, gen: FeatureSet, gt: FeatureSet, *, labels: Labels, seed: int = 0
) -> list[Measurement]:
    """The metric on random subsets of both sets, four of each size; `at` has `n` (clips) and `subset`.

    Each is the plain metric of that many clips, so its signature has that many in `n_gen` and `n_gt`. Where both sets
    are of the largest size there is one subset, the whole. Rows of one video are drawn together. A size that is too
    small for the metric has a missing value.

    Edge cases  fewer than 8 clips in a set: `InputError`, since there would be one size alone.
    """
    x, y = sample_of(gen), sample_of(gt)
    sizes = curve_sizes(min(x.count, y.count), recipe.d)
    if len(sizes) < 2:
        raise InputError(f"a curve needs {2 * _LEAST} clips in each set; got {x.count} and {y.count}")
    draw = np.random.RandomState(seed)
    found = []
    for size in sizes:
        for number, (one, other) in enumerate(_subsets(draw, x, y, size), 1):
            found.append(_point(metric, recipe, one, other, labels, size, number, seed))
    return found


def _subsets(draw: np.random.RandomState, x: Sample, y: Sample, size: int) -> Iterator[tuple[Sample, Sample]]:
    if x.count == y.count == size:
        yield x, y
        return
    for _ in range(SUBSETS):
        yield x.drawn(draw, size), y.drawn(draw, size)


def _point(
    metric: Metric, recipe: Recipe, x: Sample, y: Sample, labels: Labels, size: int, subset: int, seed: int
) -> Measurement:
    n_gen, n_gt = len(x.rows), len(y.rows)
    definition = bound_definition(
        metric, recipe, weights=labels.weights, precision=labels.precision, n_gen=n_gen, n_gt=n_gt
    )
    at = (("n", str(size)), ("subset", str(subset)))
    try:
        value = distance_of(metric, recipe)(x.rows, y.rows)
    except InputError as error:
        return Measurement.missing(definition, str(error), count=n_gen + n_gt, at=at)
    note = f"a random subset of {size} clips of each set, seed {seed}"
    return Measurement(definition=definition, value=value, count=n_gen + n_gt, note=note, at=at)


def curve_end(
    metric: Metric, recipe: Recipe, gen: FeatureSet, gt: FeatureSet, *, whole: Measurement, seed: int = 0
) -> list[Measurement]:
    """The value at infinitely many clips, for a Fréchet distance; missing with a note where N is not above D."""
    if family(metric) != "frechet":
        return []
    definition = extrapolated_definition(whole.definition).with_params(extrapolation_seed=seed)
    try:
        value = extrapolated(sample_of(gen), sample_of(gt), distance_of(metric, recipe), seed=seed)
    except InputError as error:
        return [Measurement.missing(definition, str(error), count=whole.count)]
    return [Measurement(definition=definition, value=value, count=whole.count, note=whole.note)]
