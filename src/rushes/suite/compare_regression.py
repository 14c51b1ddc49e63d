"""A limit on how far a metric may get worse: `rushes compare --fail-on regression=METRIC:AMOUNT`."""

from __future__ import annotations

from rushes.errors import InputError
from rushes.paired.statistics import PairedStatistics
from rushes.suite.compare_results import RunComparison


def regression(comparison: RunComparison, metric: str, amount: float) -> list[PairedStatistics]:
    """The readings of a metric whose mean got worse by more than `amount`; [] when the gate holds.

    Worse is down for a metric where higher is better, up where lower is: the gate is the asker's own rule, so a metric
    whose changes are no verdict can have one. Raises `InputError` for a metric without a direction, one that was not
    compared, one without a single clip that has both values, and one that is not comparable on a clip.
    """
    broken = []
    for found in comparison.find(metric):
        statistics = found.statistics
        if statistics.metric.better == "neither":
            raise InputError(f"{metric}: neither direction is better, so there is no regression to guard against")
        if found.unlike:
            n, total = len(found.unlike), len(found.unlike) + statistics.mean.count
            what = f"{n} of {total} clips {'is' if n == 1 else 'are'} not comparable ({found.why_unlike})"
            raise InputError(f"{metric}: {what}, so the gate cannot be checked")
        if statistics.mean.value is None:
            raise InputError(f"{metric}: {statistics.mean.note}, so the gate cannot be checked")
        moved = float(statistics.mean.value)
        if (-moved if statistics.metric.better == "higher" else moved) > amount:
            broken.append(statistics)
    return broken
