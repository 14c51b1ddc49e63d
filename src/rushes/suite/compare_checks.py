"""What `rushes compare --fail-on` found, metric by metric, for a pipeline to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushes.ci.checks import Check, CheckList, Outcome
from rushes.core.selection import label
from rushes.suite.compare_many import RunsComparison
from rushes.suite.compare_regression import regression
from rushes.suite.compare_results import Change, MetricComparison, RunComparison
from rushes.suite.gate import unchecked

_WORST = 3


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
    broken = {id(statistics) for statistics in regression(one, metric, amount)}
    left = unchecked(one, metric)
    for found in one.find(metric):
        failed = id(found.statistics) in broken
        outcome: Outcome = "failed" if failed else ("allowed" if allow else "unclear") if left else "passed"
        mean = found.statistics.mean
        unit = "" if mean.definition.unit == "1" else f" {mean.definition.unit}"
        moved = f"mean difference {float(mean.value or 0):+.4g}{unit} over {mean.count} clips"
        between = mean.interval
        if between is not None:
            moved += f" ({100 * between.level:.4g} % interval {between.low:+.4g} to {between.high:+.4g})"
        why = f"{moved}; {amount:g} is allowed" + "".join(f"; {reason}" for reason in left)
        place = label(found.reading, found.reading.place)
        name = f"{prefix}{found.reading.name}" + (f" ({place})" if place else "")
        kind = {"failed": "worse", "passed": "within the limit"}.get(outcome, "not checked on everything")
        worst = _worst(found) if failed else ()
        yield found, Check(name=name, outcome=outcome, kind=kind, why=why, details=(*worst, mean.signature))


def _worst(found: MetricComparison) -> tuple[str, ...]:
    """The clips that lost most, most first."""
    higher_is_better = found.statistics.metric.better == "higher"

    def loss(change: Change) -> float:
        moved = float(change.difference.value or 0)
        return -moved if higher_is_better else moved

    lost = sorted((c for c in found.changes if c.difference.value is not None and loss(c) > 0), key=loss, reverse=True)
    return tuple(f"{c.subject}: {_number(c.first.value)} → {_number(c.second.value)}" for c in lost[:_WORST])


def _number(value: float | bool | None) -> str:
    return "–" if value is None else f"{float(value):.6g}"


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
