"""From two sets of feature rows to labelled numbers: the distance, its interval, its extrapolation, its warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rushes.core import Definition, Measurement
from rushes.distribution.definitions import extrapolated_definition, interval_ends, settled
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.frechet import frechet_distance, frechet_single
from rushes.distribution.kvd import polynomial_mmd
from rushes.distribution.protocols import Metric, Recipe, count_remark
from rushes.distribution.statistics import (
    Distance,
    Floats,
    IntervalMethod,
    extrapolated,
    jackknife_interval,
    subsampling_interval,
)
from rushes.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What is asked for beside the distance itself."""

    interval: IntervalMethod | None = None
    extrapolate: bool = False
    seed: int = 0
    """Draws the subsets of intervals and extrapolation."""


def distance_of(metric: Metric, recipe: Recipe) -> Distance:
    """The function that turns two sets of rows into the metric's value."""
    if metric == "kvd":
        return polynomial_mmd
    kind = frechet_single if recipe.arithmetic == "fp32-svd" else frechet_distance
    return partial(kind, ddof=recipe.ddof)


def measure(
    metric: Metric,
    recipe: Recipe,
    gen: FeatureSet,
    gt: FeatureSet,
    *,
    weights: str,
    precision: str,
    remarks: Sequence[str] = (),
    extras: Extras | None = None,
) -> tuple[Measurement, ...]:
    """The metric with its full signature, then the interval's ends and the extrapolated value where asked for.

    Edge cases  fewer than two clips in a set: `InputError`. `count` is the clips of both sets.
    """
    extras = extras or Extras()
    for side, features in (("generated", gen), ("ground-truth", gt)):
        if len(features.rows) < 2:
            left_out = f" ({len(features.excluded)} were left out)" if features.excluded else ""
            raise InputError(
                f"a distance between sets needs at least two clips in each; the {side} set has "
                f"{len(features.rows)}{left_out}"
            )
    x, y = gen.rows.astype(np.float64), gt.rows.astype(np.float64)
    definition = settled(metric, recipe, weights=weights, precision=precision, n_gen=len(x), n_gt=len(y))
    note = "; ".join([*remarks, *_remarks(metric, recipe, gen, gt)])
    distance = distance_of(metric, recipe)
    count = len(x) + len(y)
    whole = Measurement(definition=definition, value=distance(x, y), count=count, note=note)
    return (whole, *_beside(metric, definition, x, y, distance, extras, count, note))


def _beside(
    metric: Metric, whole: Definition, x: Floats, y: Floats, distance: Distance, extras: Extras, count: int, note: str
) -> list[Measurement]:
    found = []
    if extras.interval is not None:
        if extras.interval == "jackknife":
            interval = jackknife_interval(x, y, distance)
        else:
            interval = subsampling_interval(x, y, distance, seed=extras.seed)
        ends = interval_ends(whole, extras.interval, extras.seed)
        for definition, value in zip(ends, (interval.low, interval.high), strict=True):
            found.append(Measurement(definition=definition, value=value, count=count, note=note))
    if extras.extrapolate and metric != "kvd":  # unbiased already: there is nothing to extrapolate
        value = extrapolated(x, y, distance, seed=extras.seed)
        definition = extrapolated_definition(whole, extras.seed)
        found.append(Measurement(definition=definition, value=value, count=count, note=note))
    return found


def _remarks(metric: Metric, recipe: Recipe, gen: FeatureSet, gt: FeatureSet) -> list[str]:
    remarks = []
    n_gen, n_gt, width = len(gen.rows), len(gt.rows), recipe.dimensions
    if metric != "kvd" and min(n_gen, n_gt) < width:
        remarks.append(
            f"fewer clips than features ({n_gen} and {n_gt} for D = {width}): bias outweighs everything else, "
            "compare only at the same N, and kvd is the honest choice"
        )
    for side, features in (("generated", gen), ("ground-truth", gt)):
        if len(features.rows) > 1 and np.all(features.rows == features.rows[0]):
            remarks.append(f"all clips of the {side} set give the same features")
        if features.excluded:
            remarks.append(f"{len(features.excluded)} of the {side} set left out")
    counts = dict.fromkeys(count_remark(recipe, n) for n in (n_gen, n_gt))
    return remarks + [remark for remark in counts if remark]
