"""Everything that is asked of one metric on two sets: the value first, then what surrounds it.

The value of the whole sets, with its interval and extrapolation; the second model's value and the difference; the
values at smaller N; the values of each class. Takes `FeatureSet`s, and knows nothing of files and networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rushes.core import Interval, Measurement
from rushes.core.errors import InputError
from rushes.instruments.distribution.definitions import difference_definition, family, higher_is_better
from rushes.instruments.distribution.distances.curve import curve_measurements
from rushes.instruments.distribution.distances.difference import Pair, difference_interval, even_pair, only_videos
from rushes.instruments.distribution.distances.groups import Groups, class_order
from rushes.instruments.distribution.distances.labelled import Extras, Sets, at_infinity, measure, too_few
from rushes.instruments.distribution.features.rows import STATS_SUFFIX, FeatureSet
from rushes.instruments.distribution.few_videos import few_videos, few_videos_text
from rushes.instruments.distribution.show.remarks import as_note


@dataclass(frozen=True, kw_only=True, eq=False)
class Versus:
    """A second generated set, and what the two are called."""

    features: FeatureSet
    name: str
    first: str
    """What the first one is called."""


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
    found = [*measure(replace(sets, remarks=(*sets.remarks, *lacking)), extras)]
    if versus is not None:
        found += measure(replace(sets, gen=versus.features), extras, at=(("set", versus.name),))
        found.append(_difference(sets, versus))
    if extras.curve:
        if not extras.extrapolate:
            found += at_infinity(sets, found[0], seed=extras.seed)
        found += curve_measurements(sets, seed=extras.seed)
    if groups is not None:
        found += _by_class(sets, extras, groups)
    return tuple(found)


def _difference(sets: Sets, versus: Versus) -> Measurement:
    """The first model's value less the second's; `at` has `first` and `versus`."""
    kind = family(sets.metric)
    first, second = sets.gen, versus.features
    pair = Pair(first=first, second=second) if kind == "kernel" else even_pair(first, second)
    parts = (pair.first, pair.second, sets.gt)
    n_gen, n_versus, n_gt = (len(part.features) for part in parts)
    definition = difference_definition(sets.definition(n_gen, n_gt)).with_params(cut=pair.cut, n_versus=n_versus)
    at = (("first", versus.first), ("versus", versus.name))
    count = n_gen + n_versus + n_gt
    for part in (pair.first, pair.second):
        if (k := definition.param("k")) and (lacking := too_few(k, part, sets.gt)):
            return Measurement.missing(definition, lacking, count=count, at=at)
    value, interval = difference_interval(*parts, sets.distance, corrected=kind == "frechet")
    videos = [len(part.videos) for part in parts]
    why = few_videos(definition, videos)
    words = few_videos_text(definition, videos) if why else verdict(sets.metric, interval, versus.first, versus.name)
    note = as_note([words, pair.remark, *sets.remarks])
    return Measurement(definition=definition, value=value, count=count, note=note, at=at, interval=interval, why=why)


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
    at, why, remarks = (("class", name),), "", sets.remarks
    for interval in dict.fromkeys((extras.interval, None)):  # too few for an interval may be enough for a value
        try:
            return measure(replace(sets, remarks=remarks), Extras(interval=interval, seed=extras.seed), at=at)
        except InputError as error:
            why = str(error)
            remarks = (*sets.remarks, f"no interval: {why}")
    n_gen, n_gt = sets.rows
    if not (n_gen and n_gt):
        why = f"only in the {'ground-truth' if n_gt else 'generated'} set ({n_gt or n_gen} clips)"
    return (sets.missing(why, at=at),)
