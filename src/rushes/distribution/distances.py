"""From the features of two sets to labelled numbers: the distance with its interval and warnings, its extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from rushes.core import Interval, Measurement
from rushes.distribution.definitions import KERNEL_METRICS, bound_definition, extrapolated_definition
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.frechet import frechet_distance, frechet_single
from rushes.distribution.kvd import polynomial_mmd
from rushes.distribution.needs import need_two
from rushes.distribution.protocols import FRAME_METRICS, Metric, Recipe, count_remark
from rushes.distribution.remarks import as_note
from rushes.distribution.statistics import (
    Distance,
    Floats,
    IntervalMethod,
    extrapolated,
    jackknife_interval,
    subsampling_interval,
)
from rushes.errors import InputError


def distance_of(metric: Metric, recipe: Recipe) -> Distance:
    """The function that turns the features of two sets into the metric's value."""
    if metric in KERNEL_METRICS:
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
    interval: IntervalMethod | None = None,
    extrapolate: bool = False,
    seed: int = 0,
) -> tuple[Measurement, ...]:
    """The metric with its full signature and, where asked for, its interval; then its extrapolated value.

    `seed` draws the subsets of a subsampling interval and of the extrapolation.

    Edge cases  fewer than two clips in a set: `InputError`. Too few for the interval or the extrapolation: there is
                none, and the note says why. `count` is the clips of both sets. KVD is unbiased already, so it is not
                extrapolated.
    """
    for side, feature_set in (("generated", gen), ("ground-truth", gt)):
        need_two(side, len(feature_set.features), feature_set.excluded)
    x, y = gen.features.astype(np.float64), gt.features.astype(np.float64)
    definition = bound_definition(metric, recipe, weights=weights, precision=precision, n_gen=len(x), n_gt=len(y))
    notes = [*remarks, *_remarks(metric, recipe, gen, gt)]
    distance = distance_of(metric, recipe)
    count = len(x) + len(y)
    drawn = None
    try:
        drawn = None if interval is None else _interval(interval, x, y, distance, seed)
    except InputError as error:  # clips dropped out; the value is worth having without
        notes.append(f"no interval: {error}")
    note = as_note(notes)
    whole = Measurement(definition=definition, value=distance(x, y), count=count, note=note, interval=drawn)
    if not extrapolate or metric in KERNEL_METRICS:
        return (whole,)
    beyond = extrapolated_definition(definition).with_params(extrapolation_seed=seed)
    try:
        value = extrapolated(x, y, distance, seed=seed)
    except InputError as error:
        return whole, Measurement.missing(beyond, str(error), count=count)
    return whole, Measurement(definition=beyond, value=value, count=count, note=note)


def _interval(method: IntervalMethod, x: Floats, y: Floats, distance: Distance, seed: int) -> Interval:
    if method == "jackknife":
        return jackknife_interval(x, y, distance)
    return subsampling_interval(x, y, distance, seed=seed)


def _remarks(metric: Metric, recipe: Recipe, gen: FeatureSet, gt: FeatureSet) -> list[str]:
    remarks = []
    n_gen, n_gt = len(gen.features), len(gt.features)
    what, honest = ("frames", "kid") if metric in FRAME_METRICS else ("clips", "kvd")
    if metric not in KERNEL_METRICS and min(n_gen, n_gt) < recipe.d:
        remarks.append(
            f"fewer {what} than features ({n_gen} and {n_gt} for D = {recipe.d}): bias outweighs everything else, "
            f"compare only at the same N, and {honest} is the honest choice"
        )
    if metric in FRAME_METRICS:
        remarks.append(
            f"frames of one video resemble each other: {n_gen} of {len(gen.videos)} videos against {n_gt} of "
            f"{len(gt.videos)} say less than as many pictures"
        )
    for side, feature_set in (("generated", gen), ("ground-truth", gt)):
        features = feature_set.features
        if len(features) > 1 and np.all(features == features[0]):
            remarks.append(f"all clips of the {side} set give the same features")
        if feature_set.excluded:
            remarks.append(f"{len(feature_set.excluded)} of the {side} set left out")
    counts = dict.fromkeys(count_remark(recipe, n) for n in (n_gen, n_gt))
    return remarks + [remark for remark in counts if remark]
