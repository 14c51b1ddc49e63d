"""From the features of two sets to labelled numbers: the distance with its interval and warnings, its extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.core.measurement import At
from rushes.instruments.distribution.definitions import KERNELS, bound_definition, extrapolated_definition, family
from rushes.instruments.distribution.distances import formulas
from rushes.instruments.distribution.distances.groups import Groups
from rushes.instruments.distribution.distances.intervals import (
    Distance,
    IntervalMethod,
    distance_interval,
    extrapolated,
    sample_of,
)
from rushes.instruments.distribution.features.rows import FeatureSet
from rushes.instruments.distribution.few_videos import few_videos, few_videos_remark
from rushes.instruments.distribution.protocols import FRAME_METRICS, Metric, Recipe
from rushes.instruments.distribution.show.remarks import as_note
from rushes.stats.frechet import frechet_distance

LEAST_FOR_INTERVAL: dict[IntervalMethod, int] = {"jackknife": 3, "subsampling": 4}
"""Rows of each set that an interval needs: with one of them, or half of them, left out two remain."""
_NEIGHBOURS: dict[str, Distance] = {
    "precision": formulas.precision,
    "recall": formulas.recall,
    "density": formulas.density,
    "coverage": formulas.coverage,
}
_REASONS_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What is wanted besides the value."""

    interval: IntervalMethod | None = None
    extrapolate: bool = False
    seed: int = 0
    curve: bool = False
    groups: Groups | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Sets:
    """What one metric of one recipe is measured on, and how it was made."""

    metric: Metric
    recipe: Recipe
    gen: FeatureSet
    gt: FeatureSet
    weights: str
    """As signatures have it."""
    precision: str
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[int, int]:
        return len(self.gen.features), len(self.gt.features)

    @property
    def distance(self) -> Distance:
        return distance_of(self.metric, self.recipe)

    def definition(self, n_gen: int, n_gt: int) -> Definition:
        """The metric's on so many rows of each set."""
        how = {"weights": self.weights, "precision": self.precision}
        return bound_definition(self.metric, self.recipe, **how, n_gen=n_gen, n_gt=n_gt)

    def missing(self, why: str, *, at: At = ()) -> Measurement:
        return Measurement.missing(self.definition(*self.rows), why, count=sum(self.rows), at=at)


def distance_of(metric: Metric, recipe: Recipe) -> Distance:
    """The function that turns the features of two sets into the metric's value."""
    if metric in _NEIGHBOURS:
        return _NEIGHBOURS[metric]
    if family(metric) == "kernel":
        kernel = KERNELS[recipe.kernel_name]
        return partial(formulas.polynomial_mmd, degree=kernel.degree, coef0=kernel.coef0, unbiased=kernel.unbiased)
    kind = formulas.frechet_single if recipe.arithmetic == "fp32-svd" else frechet_distance
    return partial(kind, ddof=recipe.ddof)


def measure(sets: Sets, extras: Extras, *, at: At = ()) -> tuple[Measurement, ...]:
    """The metric with its full signature and, where asked for, its interval; then its extrapolated value.

    The seed draws the subsets of a subsampling interval and of the extrapolation. `at` says which part of the sets this
    is about, where it is a part.

    Edge cases  fewer than two clips in a set: `InputError`. Too few for the interval or the extrapolation: there is
                none, and the note says why. `count` is all rows. Only a Fréchet distance is extrapolated: KVD is
                unbiased already, and shares have no line in 1/N. Precision and its like have no value where a set has
                not more than k clips, and say so.
    """
    for side, feature_set in (("generated", sets.gen), ("ground-truth", sets.gt)):
        need_two(side, len(feature_set.features), feature_set.excluded)
    x, y = sample_of(sets.gen), sample_of(sets.gt)
    definition = sets.definition(*sets.rows)
    said = [*sets.remarks, *_remarks(sets, definition)]
    neighbours = sets.metric in _NEIGHBOURS
    if neighbours and (lacking := too_few(definition.param("k"), sets.gen, sets.gt)):
        return (sets.missing(lacking, at=at),)
    drawn = None
    if extras.interval is not None:
        try:
            drawn = distance_interval(extras.interval, x, y, sets.distance, seed=extras.seed)
            if neighbours:
                drawn = drawn.within(definition.lowest or 0.0, definition.highest)
        except InputError as error:  # clips dropped out; the value is worth having without
            few = neighbours and min(x.count, y.count) >= LEAST_FOR_INTERVAL[extras.interval]
            why = "with some left out, a set has not more clips than the k nearest" if few else str(error)
            said.append(f"no interval: {why}")
    whole = Measurement(
        definition=definition,
        value=sets.distance(x.rows, y.rows),
        count=sum(sets.rows),
        note=as_note(said),
        at=at,
        interval=drawn,
        why=few_videos(definition, (x.count, y.count)),
    )
    return (whole, *(at_infinity(sets, whole, seed=extras.seed) if extras.extrapolate else ()))


def at_infinity(sets: Sets, whole: Measurement, *, seed: int = 0) -> tuple[Measurement, ...]:
    """The value at infinitely many clips, for a Fréchet distance; missing with a note where N is not above D."""
    if family(sets.metric) != "frechet":
        return ()
    definition = extrapolated_definition(whole.definition).with_params(extrapolation_seed=seed)
    try:
        value = extrapolated(sample_of(sets.gen), sample_of(sets.gt), sets.distance, seed=seed)
    except InputError as error:
        return (Measurement.missing(definition, str(error), count=whole.count, at=whole.at),)
    return (Measurement(definition=definition, value=value, count=whole.count, note=whole.note, at=whole.at),)


def need_two(side: str, count: int, left_out: Sequence[tuple[str, str]] = ()) -> None:
    """`InputError` for a set of fewer than two rows; it names the first clips that were left out, and why."""
    if count >= 2:
        return
    why = ""
    if left_out:
        # a reason mostly begins with the clip's name or its path
        named = [reason if name in reason else f"{name}: {reason}" for name, reason in left_out[:_REASONS_SHOWN]]
        more = f" and {len(left_out) - _REASONS_SHOWN} more" if len(left_out) > _REASONS_SHOWN else ""
        why = f" ({len(left_out)} left out: {', '.join(named)}{more})"
    raise InputError(f"a distance between sets needs at least two clips in each; the {side} set has {count}{why}")


def need_enough(metric: Metric, recipe: Recipe, n_gen: int, n_gt: int, extras: Extras) -> None:
    """`InputError` where sets of these sizes cannot give what was asked; known before the first frame is decoded."""
    need_two("generated", n_gen)
    need_two("ground-truth", n_gt)
    fewest, interval = min(n_gen, n_gt), extras.interval
    if interval and fewest < (least := LEAST_FOR_INTERVAL[interval]):
        words = {3: "three", 4: "four"}[least]
        raise InputError(f"a {interval} interval needs {words} clips in each set; there are {n_gen} and {n_gt}")
    if extras.extrapolate and family(metric) == "frechet" and fewest <= recipe.d:
        raise InputError(
            f"extrapolation needs more clips than features: {metric} more than {recipe.d} in each set; there are "
            f"{n_gen} and {n_gt}; leave it out, or use kvd for small sets"
        )


def too_few(k: str | None, gen: FeatureSet, gt: FeatureSet) -> str:
    """Why nearest neighbours have no value here; "" where they have. A set must have more rows than k."""
    n, m = len(gen.features), len(gt.features)
    return "" if min(n, m) > int(k or 0) else f"the {k} nearest clips need more than {k} in each set, got {n} and {m}"


def _remarks(sets: Sets, definition: Definition) -> list[str]:
    rows, videos = sets.rows, (len(sets.gen.videos), len(sets.gt.videos))
    what, honest = ("frames", "kid") if sets.metric in FRAME_METRICS else ("clips", "kvd")
    remarks = [few_videos_remark(definition, videos=videos, rows=rows, what=what, honest=honest)]
    if sets.metric in FRAME_METRICS:
        remarks.append(
            f"frames of one video resemble each other: {rows[0]} of {videos[0]} videos against {rows[1]} of "
            f"{videos[1]} say less than as many pictures"
        )
    for side, feature_set in (("generated", sets.gen), ("ground-truth", sets.gt)):
        features = feature_set.features
        if len(features) > 1 and np.all(features == features[0]):
            remarks.append(f"all clips of the {side} set give the same features")
        if feature_set.excluded:
            remarks.append(f"{len(feature_set.excluded)} of the {side} set left out")
    return remarks + [count_remark(sets.recipe, n) for n in rows]


def count_remark(recipe: Recipe, count: int) -> str:
    """What a reader must know when the number of clips is not the protocol's; "" when it is."""
    if recipe.asks_n == "all" or recipe.asks_n == str(count):
        return ""
    if recipe.asks_n == "multiple-of-16":
        return "" if count % 16 == 0 else f"{recipe.protocol} asks for a multiple of 16 clips, got {count}"
    return f"{recipe.protocol} asks for {recipe.asks_n} clips, got {count}"
