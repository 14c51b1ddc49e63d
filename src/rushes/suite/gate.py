"""The gate `--fail-on regression`: what of it could not be checked."""

from __future__ import annotations

from collections.abc import Iterator

from rushes.runs import Run
from rushes.suite.compare_results import MetricComparison, RunComparison

_SHOWN = 3


def unchecked(comparison: RunComparison, metric: str) -> list[str]:
    """Why a gate on this metric was not checked on everything that the first run has; [] where it was.

    A reading of the metric that only one run has or that was refused, a clip of the first run whose value has no
    counterpart in the second, and a run that is not complete each leave room for a regression that nobody saw. A clip
    without a value in the first run has nothing to lose, and a new one in the second neither.
    """
    return [*_unfinished(comparison), *_other_readings(comparison, metric), *_lost_values(comparison, metric)]


def _unfinished(comparison: RunComparison) -> Iterator[str]:
    for run in (comparison.first, comparison.second):
        if run.status != "complete":
            yield f"{run.place} is {run.status}"


def _other_readings(comparison: RunComparison, metric: str) -> Iterator[str]:
    """Readings that go by the same name; a gate on one whole signature is about that one alone."""
    for refusal in comparison.refused:
        if refusal.name == metric:
            yield f"a reading was refused ({refusal.why})"
    for about in comparison.unshared:
        if about.partition("|")[0] == metric:
            yield f"{about} is in one run only"


def _lost_values(comparison: RunComparison, metric: str) -> Iterator[str]:
    paired = set(comparison.paired)
    for found in comparison.find(metric):
        had = [name for name in comparison.first.measurements if _has_value(comparison.first, name, found)]
        lost = [name for name in had if name not in paired or not _has_value(comparison.second, name, found)]
        if lost:
            names = ", ".join(lost[:_SHOWN]) + (", …" if len(lost) > _SHOWN else "")
            clips = "1 clip" if len(lost) == 1 else f"{len(lost)} clips"
            yield f"{found.reading.signature}: {clips} of A without a value to hold against in B ({names})"


def _has_value(run: Run, subject: str, found: MetricComparison) -> bool:
    key = (found.reading.signature, found.reading.at)
    return any((m.signature, m.at) == key and m.value is not None for m in run.measurements.get(subject, ()))
