"""Many comparisons shown together: what each one's chance is, what Holm leaves of it, and how large the change is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rushes.core import Interval, Measurement
from rushes.paired.definitions import EXACT, of
from rushes.paired.family_definitions import HOLM, MEAN_TEST, SPREAD
from rushes.paired.holm import holm
from rushes.paired.statistics import PairedStatistics


def mean_test(statistics: PairedStatistics) -> Measurement:
    """How often chance alone moves the mean this far.

    Formula     t = mean / (half the interval / t(n − 1, (1 + level)/2)); p = 2 · P(T ≥ |t|), n − 1 degrees of freedom.
                A true/false metric: the exact sign test, whose interval is Clopper and Pearson's
    Unit        probability, 0 to 1
    Edge cases  all differences equal, and not 0: the sign test too. Else no interval, no value; the note says why
    Reference   Student 1908; scipy.stats.ttest_rel
    """
    mean, definition = statistics.mean, of(MEAN_TEST, statistics.metric)
    interval, signs = mean.interval, statistics.sign_test
    alike = interval is None and mean.count > 1 and signs.count == mean.count
    if signs.value is not None and (alike or (interval is not None and interval.method == EXACT)):
        p = float(signs.value)
    elif mean.value is None or interval is None:
        return Measurement.missing(definition, mean.note or "no interval", at=mean.at)
    else:
        from scipy.stats import t

        freedom = mean.count - 1
        error = (interval.high - interval.low) / 2 / float(t.ppf((1 + interval.level) / 2, freedom))
        p = float(2 * t.sf(abs(float(mean.value)) / error, freedom))
    return Measurement(definition=definition, value=min(p, 1.0), count=mean.count, at=mean.at)


def holm_tests(tests: Sequence[Measurement], metrics: Sequence[PairedStatistics]) -> list[Measurement]:
    """`mean_test` of every comparison, in the same order, raised by Holm's rule over those that have a value."""
    values = [None if test.value is None else float(test.value) for test in tests]
    raised = holm([p for p in values if p is not None])
    family, left = max(len(raised), 1), iter(raised)
    found = []
    for test, value, statistics in zip(tests, values, metrics, strict=True):
        definition = of(HOLM, statistics.metric).with_params(tests=family)
        if value is None:
            found.append(Measurement.missing(definition, test.note, at=test.at))
        else:
            found.append(Measurement(definition=definition, value=next(left), count=test.count, at=test.at))
    return found


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
