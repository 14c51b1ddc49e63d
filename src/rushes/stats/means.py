"""The mean over clips, by kind of value: of true and false a share with Wilson's interval, else Student's t.

Every run, board, page and paper that shows a mean over clips or prompts takes it from here, so that one signature has
one interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from rushes.core import Definition, Estimate, Measurement, Why
from rushes.core.estimate import Value
from rushes.core.measurement import mean
from rushes.stats.intervals import LEVEL, WILSON, Floats, exact_interval, student_interval, wilson
from rushes.stats.sums import exact_sum


def mean_over_clips(values: Sequence[Value], *, level: float = LEVEL) -> Estimate:
    """Mean of the values there are, each clip counting once, with the interval that their kind asks for.

    Formula     Σ value / n; interval mean ± t(n − 1) · s / √n; where every value is true or false, Wilson's
    Unit        the values' own; a share of true and false
    Edge cases  no value: none. One number, or equal numbers: no interval. One flag, or equal flags, have Wilson's.

    >>> mean_over_clips([True, True, None, False]).interval.text(digits=3)
    '0.208 to 0.939'
    >>> mean_over_clips([2.0, 2.0]).why.text
    'all values are equal: their spread is unknown'
    """
    found = [value for value in values if value is not None]
    flags = bool(found) and all(isinstance(value, bool) for value in found)
    return column_mean(np.array(found, dtype=np.float64), flags=flags, level=level)


def column_mean(values: Floats, *, flags: bool, level: float = LEVEL) -> Estimate:
    """`mean_over_clips` of a column without gaps; `flags` where every value is true or false."""
    if flags:
        return share(int(np.count_nonzero(values)), len(values), level=level)
    return student_mean(values, level=level)


def student_mean(values: Sequence[float] | Floats, *, level: float = LEVEL, equal: Why = Why.EQUAL_VALUES) -> Estimate:
    """Mean with Student's t interval; `equal` says what it is that was equal."""
    array = np.asarray(values, dtype=np.float64)
    n = len(array)
    if n == 0:
        return Estimate.none(Why.NO_DATA)
    centre = exact_sum(array) / n
    if n < 2:
        return Estimate(value=centre, count=n, why=Why.NEEDS_TWO_CLIPS)
    if array.min() == array.max():
        return Estimate(value=centre, count=n, why=equal)
    deviation = math.sqrt(_squares(array, centre) / (n - 1))
    return Estimate(value=centre, count=n, interval=student_interval(centre, deviation, n, level=level))


def _squares(values: Floats, centre: float) -> float:
    """Σ (v − centre)², summed exactly."""
    return exact_sum((values - centre) ** 2)


def share(successes: float, trials: int, *, level: float = LEVEL, method: str = WILSON) -> Estimate:
    """Successes of independent trials with Wilson's interval."""
    if trials <= 0:
        return Estimate.none(Why.NO_TRIALS)
    interval = wilson(successes, trials, level=level, method=method)
    return Estimate(value=successes / trials, count=trials, interval=interval)


def mean_change(differences: Sequence[float] | Floats, *, flags: bool = False, level: float = LEVEL) -> Estimate:
    """Mean of paired differences; of `flags`, which change by −1, 0 or 1, with the exact interval of those changed."""
    if not flags or not len(differences):
        return student_mean(differences, level=level, equal=Why.EQUAL_DIFFERENCES)
    moved = np.asarray(differences)
    n, rose, fell = len(moved), int(np.count_nonzero(moved > 0)), int(np.count_nonzero(moved < 0))
    if rose + fell == 0:
        return Estimate(value=0.0, count=n, why=Why.NO_CHANGE)
    return Estimate(value=(rose - fell) / n, count=n, interval=exact_interval(rose, fell, n, level=level))


def deviation(values: Sequence[float] | Floats) -> float:
    """Population standard deviation; 0.0 of no values.

    >>> deviation([0.0, 0.0, 1.0, 1.0]), deviation([3.0]), deviation([])
    (0.5, 0.0, 0.0)
    """
    array = np.asarray(values, dtype=np.float64)
    if not len(array):
        return 0.0
    return math.sqrt(_squares(array, exact_sum(array) / len(array)) / len(array))


def clip_means(numbers: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """The mean over the clips of every metric among these, in the order in which they come first."""
    return tuple(mean_of_clips(group) for group in same_metric(list(numbers)))


def mean_of_clips(group: Sequence[Measurement]) -> Measurement:
    """`mean_over_clips` of one metric, under its definition with `aggregate:mean` (`core.mean`).

    The note counts the values that are missing, and says why there is no interval. The interval stays inside the
    metric's range: no mean of distances is below 0.
    """
    found, estimate = mean(group), within_range(mean_over_clips([m.value for m in group]), group[0].definition)
    note = "; ".join(filter(None, (found.note, "" if estimate.value is None else estimate.lacking)))
    return replace(found, interval=estimate.interval, note=note, why=estimate.why)


def within_range(found: Estimate, definition: Definition) -> Estimate:
    """The estimate with its interval cut to the lowest and highest value that the metric can have."""
    if found.interval is None:
        return found
    return replace(found, interval=found.interval.within(definition.lowest, definition.highest))


def same_metric(numbers: Sequence[Measurement]) -> list[list[Measurement]]:
    """Numbers by signature. One that was never measured has none of the parameters that measuring settles ("none"):
    it goes with those that have."""
    groups: dict[str, list[Measurement]] = {}
    for m in numbers:
        groups.setdefault(m.signature, []).append(m)
    merged: list[list[Measurement]] = []
    for group in groups.values():
        home = next((other for other in merged if _is_missing(group[0], other[0])), None)
        if home is not None:
            home += [replace(m, definition=home[0].definition) for m in group]
            continue
        stray = [other for other in merged if _is_missing(other[0], group[0])]
        merged = [other for other in merged if other not in stray]
        merged.append([replace(m, definition=group[0].definition) for other in stray for m in other] + group)
    return merged


def _is_missing(one: Measurement, other: Measurement) -> bool:
    return one.value is None and is_unset(one.definition, other.definition)


def is_unset(one: Definition, other: Definition) -> bool:
    """Whether some parameters of `one` were never set ("none"), because nothing could be measured, and it is `other`
    in all else."""
    ours, theirs = dict(one.params), dict(other.params)
    is_alike = one.name == other.name and ours.keys() == theirs.keys()
    return is_alike and all(value in (theirs[key], "none") for key, value in ours.items())
