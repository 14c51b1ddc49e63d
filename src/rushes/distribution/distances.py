"""From the features of two sets to labelled numbers: the distance with its interval and warnings, its extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rushes.core import Definition, Interval, Measurement
from rushes.core.measurement import At
from rushes.distribution import prdc
from rushes.distribution.definitions import bound_definition, extrapolated_definition, family
from rushes.distribution.feature_set import FeatureSet
from rushes.distribution.frechet import frechet_distance, frechet_single
from rushes.distribution.kvd import polynomial_mmd
from rushes.distribution.needs import LEAST_FOR_INTERVAL, need_two
from rushes.distribution.protocols import FRAME_METRICS, Metric, Recipe, count_remark
from rushes.distribution.remarks import as_note
from rushes.distribution.sample import sample_of
from rushes.distribution.statistics import (
    Distance,
    IntervalMethod,
    distance_interval,
    extrapolated,
)
from rushes.errors import InputError

_LEAST: dict[IntervalMethod, int] = {"subsampling": 4, "jackknife": 3}
_NEIGHBOURS: dict[str, Distance] = {
    "precision": prdc.precision,
    "recall": prdc.recall,
    "density": prdc.density,
    "coverage": prdc.coverage,
}


def distance_of(metric: Metric, recipe: Recipe) -> Distance:
    """The function that turns the features of two sets into the metric's value."""
    if metric in _NEIGHBOURS:
        return _NEIGHBOURS[metric]
    if family(metric) == "kernel":
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
    at: At = (),
) -> tuple[Measurement, ...]:
    """The metric with its full signature and, where asked for, its interval; then its extrapolated value.

    `seed` draws the subsets of a subsampling interval and of the extrapolation. `at` says which part of the sets this
    is about, where it is a part.

    Edge cases  fewer than two clips in a set: `InputError`. Too few for the interval or the extrapolation: there is
                none, and the note says why. `count` is all rows. Only a Fréchet distance is extrapolated: KVD is
                unbiased already, and shares have no line in 1/N. Precision and its like have no value where a set has
                not more than k clips, and say so.
    """
    for side, feature_set in (("generated", gen), ("ground-truth", gt)):
        need_two(side, len(feature_set.features), feature_set.excluded)
    x, y = sample_of(gen), sample_of(gt)
    definition = bound_definition(
        metric, recipe, weights=weights, precision=precision, n_gen=len(x.rows), n_gt=len(y.rows)
    )
    said = [*remarks, *_remarks(metric, recipe, gen, gt)]
    distance = distance_of(metric, recipe)
    count = len(x.rows) + len(y.rows)
    if metric in _NEIGHBOURS and (lacking := too_few(definition.param("k"), gen, gt)):
        return (Measurement.missing(definition, lacking, count=count, at=at),)
    drawn = None
    if interval is not None:
        try:
            drawn = distance_interval(interval, x, y, distance, seed=seed)
            if metric in _NEIGHBOURS:
                drawn = _within(drawn, definition)
        except InputError as error:  # clips dropped out; the value is worth having without
            few = metric in _NEIGHBOURS and min(x.count, y.count) >= LEAST_FOR_INTERVAL[interval]
            why = "with some left out, a set has not more clips than the k nearest" if few else str(error)
            said.append(f"no interval: {why}")
    note = as_note(said)
    value = distance(x.rows, y.rows)
    whole = Measurement(definition=definition, value=value, count=count, note=note, at=at, interval=drawn)
    if not extrapolate or family(metric) != "frechet":
        return (whole,)
    beyond = extrapolated_definition(definition).with_params(extrapolation_seed=seed)
    try:
        value = extrapolated(x, y, distance, seed=seed)
    except InputError as error:
        return whole, Measurement.missing(beyond, str(error), count=count, at=at)
    return whole, Measurement(definition=beyond, value=value, count=count, note=note, at=at)


def too_few(k: str | None, gen: FeatureSet, gt: FeatureSet) -> str:
    """Why nearest neighbours have no value here; "" where they have. A set must have more rows than k."""
    n, m = len(gen.features), len(gt.features)
    return "" if min(n, m) > int(k or 0) else f"the {k} nearest clips need more than {k} in each set, got {n} and {m}"


def _within(interval: Interval, definition: Definition) -> Interval:
    """The interval cut to what a share can be."""
    low, high = (definition.lowest or 0.0), definition.highest
    return replace(
        interval, low=max(interval.low, low), high=interval.high if high is None else min(interval.high, high)
    )


def _remarks(metric: Metric, recipe: Recipe, gen: FeatureSet, gt: FeatureSet) -> list[str]:
    remarks = []
    n_gen, n_gt = len(gen.features), len(gt.features)
    what, honest = ("frames", "kid") if metric in FRAME_METRICS else ("clips", "kvd")
    if family(metric) == "frechet" and min(n_gen, n_gt) < recipe.d:
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
