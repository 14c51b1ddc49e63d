"""Everything that is asked of one metric on two sets: the value first, then what surrounds it.

The value of the whole sets, with its interval and extrapolation; the second model's value and the difference; the
values at smaller N; the values of each class. Takes `FeatureSet`s, and knows nothing of files and networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core import Interval, Measurement
from rushes.distribution.curve import Labels, curve_end, curve_measurements
from rushes.distribution.definitions import bound_definition, difference_definition, family, higher_is_better
from rushes.distribution.difference import Pair, difference_interval, even_pair, only_videos
from rushes.distribution.distances import distance_of, measure, too_few
from rushes.distribution.feature_set import STATS_SUFFIX, FeatureSet
from rushes.distribution.groups import Groups, class_order
from rushes.distribution.protocols import Metric, Recipe
from rushes.distribution.remarks import as_note
from rushes.distribution.statistics import IntervalMethod
from rushes.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What is wanted besides the value."""

    interval: IntervalMethod | None = None
    extrapolate: bool = False
    seed: int = 0
    curve: bool = False
    groups: Groups | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Versus:
    """A second generated set, and what the two are called."""

    features: FeatureSet
    name: str
    first: str
    """What the first one is called."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sets:
    """What one metric of one recipe is measured on, and how it was made."""

    metric: Metric
    recipe: Recipe
    gen: FeatureSet
    gt: FeatureSet
    labels: Labels
    remarks: tuple[str, ...] = ()


def versus_names(gen: str | Path, versus: str | Path | None) -> tuple[str, str]:
    """What two generated sets are called: their own names, or their whole paths where these are the same.

    >>> versus_names("runs/amber", "runs/birch/"), versus_names("a/clips", "b/clips")
    (('amber', 'birch'), ('a/clips', 'b/clips'))
    """
    paths = [str(path).rstrip("/") for path in (gen, versus or "")]
    first, second = (path.rpartition("/")[2].removesuffix(STATS_SUFFIX) for path in paths)
    return (first, second) if first != second else (paths[0], paths[1])


def measure_sets(sets: Sets, extras: Extras, versus: Versus | None = None) -> tuple[Measurement, ...]:
    """The whole sets' value first; then the second model's and the difference, the curve, and each class."""
    groups = extras.groups
    lacking = () if groups is None else (groups.lacking(sets.gen.videos, "gen"), groups.lacking(sets.gt.videos, "gt"))
    found = [*_whole(sets, extras, remarks=tuple(filter(None, lacking)))]
    if versus is not None:
        found += _against(sets, extras, versus)
    if extras.curve:
        seed = extras.seed
        if not extras.extrapolate:
            found += curve_end(sets.metric, sets.recipe, sets.gen, sets.gt, whole=found[0], seed=seed)
        found += curve_measurements(sets.metric, sets.recipe, sets.gen, sets.gt, labels=sets.labels, seed=seed)
    if groups is not None:
        found += _by_class(sets, extras, groups)
    return tuple(found)


def _whole(
    sets: Sets, extras: Extras, *, gen: FeatureSet | None = None, remarks: tuple[str, ...] = (), at: str = ""
) -> tuple[Measurement, ...]:
    return measure(
        sets.metric,
        sets.recipe,
        sets.gen if gen is None else gen,
        sets.gt,
        weights=sets.labels.weights,
        precision=sets.labels.precision,
        remarks=[*sets.remarks, *remarks],
        interval=extras.interval,
        extrapolate=extras.extrapolate,
        seed=extras.seed,
        at=(("set", at),) if at else (),
    )


def _against(sets: Sets, extras: Extras, versus: Versus) -> list[Measurement]:
    """The second model's own value (`at` has `set`), then the difference (`at` has `first` and `versus`)."""
    biased = family(sets.metric) != "kernel"
    pair = even_pair(sets.gen, versus.features) if biased else Pair(first=sets.gen, second=versus.features)
    return [*_whole(sets, extras, gen=versus.features, at=versus.name), _difference(sets, pair, versus)]


def _difference(sets: Sets, pair: Pair, versus: Versus) -> Measurement:
    n_gen, n_versus, n_gt = (len(part.features) for part in (pair.first, pair.second, sets.gt))
    base = bound_definition(
        sets.metric,
        sets.recipe,
        weights=sets.labels.weights,
        precision=sets.labels.precision,
        n_gen=n_gen,
        n_gt=n_gt,
    )
    definition = difference_definition(base).with_params(cut=pair.cut, n_versus=n_versus)
    at = (("first", versus.first), ("versus", versus.name))
    count = n_gen + n_versus + n_gt
    frechet = family(sets.metric) == "frechet"
    for part in (pair.first, pair.second):
        if (k := definition.param("k")) and (lacking := too_few(k, part, sets.gt)):
            return Measurement.missing(definition, lacking, count=count, at=at)
    distance = distance_of(sets.metric, sets.recipe)
    value, interval = difference_interval(pair.first, pair.second, sets.gt, distance, corrected=frechet)
    videos = min(len(part.videos) for part in (pair.first, pair.second, sets.gt))
    if frechet and videos <= sets.recipe.d:
        words = (
            f"no verdict with {videos} clips for D = {sets.recipe.d}: a set with too little variety looks closer than "
        )
        words += "it is, so use kvd"
    else:
        words = verdict(sets.metric, interval, versus.first, versus.name)
    note = as_note([words, pair.remark, *sets.remarks])
    return Measurement(definition=definition, value=value, count=count, note=note, at=at, interval=interval)


def verdict(metric: str, interval: Interval, first: str, second: str) -> str:
    """What a difference's interval says, in words.

    >>> verdict("fvd", Interval(low=-9.0, high=-2.0, level=0.95, method="jackknife-20"), "amber", "birch")
    'amber is closer than birch'
    >>> verdict("recall", Interval(low=-0.2, high=0.1, level=0.95, method="jackknife-20"), "amber", "birch")
    'amber and birch cannot be told apart at this N'
    """
    if interval.low <= 0 <= interval.high:
        return f"{first} and {second} cannot be told apart at this N"
    word = "higher" if higher_is_better(metric) else "closer"
    ahead = (interval.low > 0) == higher_is_better(metric)
    return f"{first} is {word} than {second}" if ahead else f"{second} is {word} than {first}"


def _by_class(sets: Sets, extras: Extras, groups: Groups) -> list[Measurement]:
    """Every class of either set, in natural order."""
    gen, gt = groups.split(sets.gen, "gen"), groups.split(sets.gt, "gt")
    found: list[Measurement] = []
    for name in class_order([*gen, *gt]):
        one, other = only_videos(sets.gen, gen.get(name, set())), only_videos(sets.gt, gt.get(name, set()))
        found += _of_class(replace(sets, gen=one, gt=other), extras, name)
    return found


def _of_class(sets: Sets, extras: Extras, name: str) -> tuple[Measurement, ...]:
    """One class's value; missing with the reason where it has too few clips, or is in one set alone."""
    at = (("class", name),)
    weights, precision = sets.labels.weights, sets.labels.precision
    why = ""
    for interval in dict.fromkeys((extras.interval, None)):  # too few for an interval may be enough for a value
        try:
            return measure(
                sets.metric,
                sets.recipe,
                sets.gen,
                sets.gt,
                weights=weights,
                precision=precision,
                remarks=[*sets.remarks, *([f"no interval: {why}"] if why else [])],
                interval=interval,
                seed=extras.seed,
                at=at,
            )
        except InputError as error:
            why = str(error)
    n_gen, n_gt = len(sets.gen.features), len(sets.gt.features)
    if not (n_gen and n_gt):
        why = f"only in the {'ground-truth' if n_gt else 'generated'} set ({n_gt or n_gen} clips)"
    definition = bound_definition(
        sets.metric, sets.recipe, weights=weights, precision=precision, n_gen=n_gen, n_gt=n_gt
    )
    return (Measurement.missing(definition, why, count=n_gen + n_gt, at=at),)
