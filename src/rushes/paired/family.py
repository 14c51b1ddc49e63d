"""Many comparisons shown together: what each one's chance is, what Holm leaves of it, and how large the change is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushes.core import Interval, Measurement
from rushes.paired.definitions import of
from rushes.paired.family_definitions import HOLM, SPREAD
from rushes.paired.holm import holm
from rushes.paired.statistics import PairedStatistics


def holm_tests(metrics: Sequence[PairedStatistics]) -> list[Measurement]:
    """`p` of every comparison, in the same order, raised by Holm's rule over those on which a clip changed."""
    tests = [float(one.p.value or 0) for one in metrics if is_test(one.p)]
    family, left = max(len(tests), 1), iter(holm(tests))
    found = []
    for one in metrics:
        definition = of(HOLM, one.metric).with_params(tests=family)
        if one.p.value is None:
            found.append(Measurement.missing(definition, one.p.note, at=one.p.at))
        else:
            value = next(left) if is_test(one.p) else 1.0
            found.append(
                Measurement(definition=definition, value=value, count=one.p.count, note=one.p.note, at=one.p.at)
            )
    return found


def is_test(p: Measurement) -> bool:
    """Whether it could give a false alarm: with no clip that changed, p is 1 whatever happens."""
    return p.value is not None and p.count > 0


def spread_difference(statistics: PairedStatistics, values: Sequence[float]) -> Measurement:
    """The mean difference in units of the spread of `values`, which are all values of both runs that it rests on.

    Formula     mean / √(mean of (v − v̄)²); the square of the spread is at least a quarter of the squared mean
                difference, so the quotient stays within ±2
    Unit        standard deviations, −2 to 2; its interval may reach further
    Edge cases  no mean, or no spread: no value, with a note
    """
    mean, definition = statistics.mean, of(SPREAD, statistics.metric)
    if mean.value is None:
        return Measurement.missing(definition, mean.note, at=mean.at)
    spread = deviation(values)
    if spread == 0:
        return Measurement.missing(definition, "every clip has the same value in both runs", at=mean.at)
    interval = mean.interval and Interval(
        low=mean.interval.low / spread,
        high=mean.interval.high / spread,
        level=mean.interval.level,
        method=mean.interval.method,
    )
    value = min(max(float(mean.value) / spread, -2.0), 2.0)  # values are rounded to 8 decimals, so it can end past 2
    return Measurement(
        definition=definition, value=value, count=mean.count, note=mean.note, at=mean.at, interval=interval
    )


def deviation(values: Sequence[float]) -> float:
    """Population standard deviation; 0.0 of no values.

    >>> deviation([0.0, 0.0, 1.0, 1.0]), deviation([3.0]), deviation([])
    (0.5, 0.0, 0.0)
    """
    if not values:
        return 0.0
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / len(values))
