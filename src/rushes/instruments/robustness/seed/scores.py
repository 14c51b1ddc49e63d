"""One pass over a sweep's traces: each run against the baseline.

Traces are read one at a time and only numbers are kept, so memory does not grow with the length of the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from rushes.instruments.robustness.seed.levenshtein import EditDistance
from rushes.instruments.robustness.seed.metrics import MetricComputationError, extract_answer
from rushes.instruments.robustness.seed.sweep_dir import Sweep, SweepRun
from rushes.instruments.robustness.seed.traces import last_record
from rushes.instruments.robustness.show.diff import answer_label

# Judges repeat themselves: most runs of a stable sweep share a handful of texts. Bounded, so that memory stays flat.
_REMEMBERED = 256
RICH_NUMBERS = ("confidence_score", "output_entropy")
LARGEST_NUMBER = 1e100
"""Past this, the square of a number is none any more; no confidence or entropy is anywhere near."""


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run compared with the baseline."""

    values: Mapping[str, str]
    """Encoded value by axis: the groups the run counts in."""
    matches: bool
    drift: float | None
    """None where the source keeps no justifications."""
    confidence: float | None = None
    entropy: float | None = None
    unusable: tuple[str, ...] = ()
    """A line for each confidence or entropy that is there and cannot be reckoned with."""
    failed: bool = False
    """The judge gave no answer, and its trace says so. Where failures are left out, it neither matches nor drifts."""
    reason: str = ""
    """Why it failed, as its trace says."""
    answer: str | None = None
    """`answer_label` of what the run answered, where failures are left out and it did not fail."""
    seed: int | None = None


def score_runs(sweep: Sweep, *, advance: Callable[[], object] = lambda: None) -> Iterator[RunScore]:
    """Scores in execution order, as the seed words it; the first is the baseline against itself.

    A last record without an answer raises `MetricComputationError`, and an error record has none.
    """
    baseline = run_record(sweep, sweep.baseline)
    answer, drift_to = extract_answer(baseline), _drift_from(sweep, baseline)
    for run in sweep.runs:
        record = run_record(sweep, run)
        yield _score(run, record, answer, drift_to)
        advance()


def score_answered(sweep: Sweep, *, advance: Callable[[], object] = lambda: None) -> Iterator[RunScore]:
    """Scores in execution order; a run whose judge failed has one that neither matches nor drifts.

    Where the baseline failed there is nothing to hold the others against, so none of them matches or drifts.
    """
    baseline = run_or_error_record(sweep, sweep.baseline)
    known = not is_failure(baseline)
    answer, drift_to = extract_answer(baseline) if known else None, _drift_from(sweep, baseline)
    for run in sweep.runs:
        record = run_or_error_record(sweep, run)
        if is_failure(record):
            reason = failure_reason(record)
            yield RunScore(values=run.values, matches=False, drift=None, failed=True, reason=reason, seed=run.seed)
        else:
            score = _score(run, record, answer, drift_to)
            label = answer_label(extract_answer(record))
            yield replace(score, drift=score.drift if known else None, answer=label, seed=run.seed)
        advance()


def _drift_from(sweep: Sweep, baseline: Mapping[str, object]) -> Callable[[Mapping[str, object]], float]:
    drift_to = lru_cache(maxsize=_REMEMBERED)(EditDistance(sweep.justification(baseline)).normalized_to)
    return lambda record: drift_to(sweep.justification(record))


def _score(
    run: SweepRun,
    record: Mapping[str, object],
    answer: str | None,
    drift_to: Callable[[Mapping[str, object]], float],
) -> RunScore:
    return RunScore(
        values=run.values,
        matches=extract_answer(record) == answer,
        drift=drift_to(record),
        confidence=rich_number(record, "confidence_score"),
        entropy=rich_number(record, "output_entropy"),
        unusable=unusable_numbers(record, run.directory),
        failed=is_failure(record),
    )


def is_failure(record: Mapping[str, object]) -> bool:
    """Whether the record says that the judge gave no answer. Older sweeps wrote an answer of their own beside it."""
    return record.get("status") == "error"


def failure_reason(record: Mapping[str, object]) -> str:
    """Why the judge failed: `error`, or `justification` in older sweeps; "" where the record has neither."""
    reason = record.get("error") or record.get("justification") or ""
    return reason if isinstance(reason, str) else str(reason)


def run_record(sweep: Sweep, run: SweepRun) -> dict[str, object]:
    """The last record of a run's trace, checked to hold an answer."""
    record = last_record(sweep.trace(run), inside=sweep.bounds)
    try:
        extract_answer(record)
    except MetricComputationError as error:
        why = f"; the judge failed here ({failure_reason(record)})" if is_failure(record) else ""
        raise MetricComputationError(f"{sweep.trace(run)}: {error}{why}") from None
    return record


def run_or_error_record(sweep: Sweep, run: SweepRun) -> dict[str, object]:
    """The last record of a run's trace, checked to hold an answer unless it says that the judge failed."""
    record = last_record(sweep.trace(run), inside=sweep.bounds)
    return record if is_failure(record) else run_record(sweep, run)


def rich_number(record: Mapping[str, object], key: str) -> float | None:
    """A number of the record's `rich_summary`, or of the record itself; None where neither has one to reckon with."""
    value = _rich_value(record, key)
    return float(value) if is_usable(value) else None  # type: ignore[arg-type]


def unusable_numbers(record: Mapping[str, object], where: str) -> tuple[str, ...]:
    """A line for each confidence or entropy that cannot be reckoned with, for people to read."""
    given = ((key, _rich_value(record, key)) for key in RICH_NUMBERS)
    return tuple(
        f"{where}: {key} is {number_text(value)}, which is not a usable number"
        for key, value in given
        if value is not None and not is_usable(value)
    )


def is_usable(value: object) -> bool:
    """Whether it is a number whose square is one too: finite, and no further than 1e100 from 0.

    >>> [is_usable(value) for value in (0.5, -3, float("nan"), 10**400, -1e200, True, "0.5")]
    [True, True, False, False, False, False, False]
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and -LARGEST_NUMBER <= value <= LARGEST_NUMBER  # type: ignore[operator]


def number_text(value: object) -> str:
    """A number that may have thousands of digits, in a few characters.

    >>> number_text(10**400), number_text(-1e200), number_text(-(10**50))
    ('past 1e308', '-1e+200', '-1e+50')
    """
    try:
        return f"{float(value):g}"  # type: ignore[arg-type]
    except OverflowError:
        return "past -1e308" if value < 0 else "past 1e308"  # type: ignore[operator]


def _rich_value(record: Mapping[str, object], key: str) -> int | float | None:
    summary = record.get("rich_summary")
    for holder in (summary, record):
        value = holder.get(key) if isinstance(holder, Mapping) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
    return None


def by_value(axis: str, scores: Iterable[RunScore]) -> dict[str, list[RunScore]]:
    """The scores that count for an axis, by encoded value, in the order of the encodings."""
    groups: dict[str, list[RunScore]] = {}
    for score in scores:
        if axis in score.values:
            groups.setdefault(score.values[axis], []).append(score)
    return {encoded: groups[encoded] for encoded in sorted(groups)}
