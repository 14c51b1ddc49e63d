"""`rushes compare --fail-on regression=METRIC:AMOUNT`: what got worse by more, what could not be checked, and the list
of checks that a pipeline reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rushes.compare.runs.many import RunsComparison
from rushes.compare.runs.results import MetricComparison, RunComparison
from rushes.core.errors import InputError
from rushes.core.words.definition_text import value_text
from rushes.present.ci.checks import Check, CheckList, Outcome
from rushes.storage.columns import reading_columns
from rushes.storage.runs import Run

_SHOWN = 3
"""Clips that a line names."""


def regression(comparison: RunComparison, metric: str, amount: float) -> list[MetricComparison]:
    """The readings of a metric whose mean got worse by more than `amount`; [] when the gate holds.

    Worse is down for a metric where higher is better, up where lower is: the gate is the asker's own rule, so a metric
    whose changes are no verdict can have one. Raises `InputError` for a metric without a direction, one that was not
    compared, one without a single clip that has both values, and one that is not comparable on a clip.
    """
    broken = []
    for found in comparison.find(metric):
        statistics = found.statistics
        if statistics.metric.better == "neither":
            raise InputError(f"{metric}: has no better direction, so it cannot regress")
        if found.unlike:
            be = "is" if len(found.unlike) == 1 else "are"
            what = f"{found.unlike_clips} {be} not comparable ({found.why_unlike})"
            raise InputError(f"{metric}: {what}, so the gate cannot be checked")
        if statistics.mean.value is None:
            raise InputError(f"{metric}: {statistics.mean.note}, so the gate cannot be checked")
        moved = float(statistics.mean.value)
        if (-moved if statistics.metric.better == "higher" else moved) > amount:
            broken.append(found)
    return broken


def unchecked(comparison: RunComparison, metric: str) -> list[str]:
    """Why a gate on this metric was not checked on everything that the first run has; [] where it was.

    A reading of the metric that only one run has or that was refused, a clip of the first run whose value has no
    counterpart in the second, and a run that is not complete each leave room for a regression that nobody saw. A clip
    without a value in the first run has nothing to lose, and a new one in the second neither.
    """
    runs = (comparison.first, comparison.second)
    return [
        *(f"{run.place} is {run.status}" for run in runs if run.status != "complete"),
        # Readings that go by the same name; a gate on one whole signature is about that one alone.
        *(f"a metric was refused ({refusal.why})" for refusal in comparison.refused if refusal.name == metric),
        *(f"{one} is in one run only" for one in comparison.unshared if one.partition("|")[0] == metric),
        *_lost_values(comparison, metric),
    ]


def _lost_values(comparison: RunComparison, metric: str) -> Iterator[str]:
    for found in comparison.find(metric):
        if lost := found.lost(_with_value(comparison.first, found)):
            names = ", ".join(lost[:_SHOWN]) + (", …" if len(lost) > _SHOWN else "")
            clips = "1 clip" if len(lost) == 1 else f"{len(lost)} clips"
            yield f"{found.reading.signature}: {clips} of A without a counterpart in B ({names})"


def _with_value(run: Run, found: MetricComparison) -> list[str]:
    """The clips that have a value of this reading."""
    names = [subject.id for subject in run.subjects]
    column = next(one for one in reading_columns(run, names) if one.same == found.key)
    return [names[place] for place in np.flatnonzero(column.valued).tolist()]


def compare_checks(found: RunsComparison, gates: Sequence[tuple[str, float]], *, allow_unjudged: bool) -> CheckList:
    """One check per run after the first, gate and reading: failed where the mean got worse by more than the amount."""
    several = len(found.comparisons) > 1
    rows = zip(found.letters[1:], found.comparisons, strict=True)
    checks, signatures = [], []
    for letter, one in rows:
        for metric, amount in gates:
            for reading, check in _checks(one, metric, amount, allow_unjudged, f"{letter} " if several else ""):
                checks.append(check)
                signatures.append(reading.statistics.mean.signature)
    return CheckList(
        gate="rushes compare",
        headline=_headline(checks),
        checks=tuple(checks),
        facts={letter: run.place for letter, run in zip(found.letters, found.runs, strict=True)},
        signatures=tuple(dict.fromkeys(signatures)),
    )


def _checks(
    one: RunComparison, metric: str, amount: float, allow: bool, prefix: str
) -> Iterator[tuple[MetricComparison, Check]]:
    broken = regression(one, metric, amount)
    left = unchecked(one, metric)
    for found in one.find(metric):
        failed = found in broken
        outcome: Outcome = "failed" if failed else ("allowed" if allow else "unclear") if left else "passed"
        mean = found.statistics.mean
        unit = "" if mean.definition.unit == "1" else f" {mean.definition.unit}"
        moved = f"mean difference {float(mean.value or 0):+.4g}{unit} over {mean.count} clips"
        between = mean.interval
        if between is not None:
            moved += f" ({100 * between.level:.4g} % interval {between.low:+.4g} to {between.high:+.4g})"
        why = f"{moved}; {amount:g} is allowed" + "".join(f"; {reason}" for reason in left)
        name = f"{prefix}{found.name}"
        kind = {"failed": "worse", "passed": "within the limit"}.get(outcome, "not checked on everything")
        worst = _worst(found) if failed else ()
        yield found, Check(name=name, outcome=outcome, kind=kind, why=why, details=(*worst, mean.signature))


def _worst(found: MetricComparison) -> tuple[str, ...]:
    """The clips that lost most, most first."""
    held = found.changes.whole
    losses = (held.second - held.first) * (-1.0 if found.statistics.metric.better == "higher" else 1.0)
    order = np.argsort(-losses, kind="stable")
    lost = [held[int(place)] for place in order[losses[order] > 0][:_SHOWN]]
    return tuple(f"{c.subject}: {value_text(c.first)} → {value_text(c.second)}" for c in lost)


def _headline(checks: Sequence[Check]) -> str:
    """ "The gate does not hold: 1 of 2 limits is broken: blur_score." """
    failed = [check.name for check in checks if check.outcome == "failed"]
    unclear = [check.name for check in checks if check.outcome == "unclear"]
    count = "1 limit" if len(checks) == 1 else f"{len(checks)} limits"
    if failed:
        be = "is" if len(failed) == 1 else "are"
        return f"The gate does not hold: {len(failed)} of {count} {be} broken: {', '.join(failed)}."
    if unclear:
        return f"The gate cannot tell: not checked on everything: {', '.join(unclear)}."
    return f"The gate holds: {'the limit is' if len(checks) == 1 else f'all {count} are'} kept."
