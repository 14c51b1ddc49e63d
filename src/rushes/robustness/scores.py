"""One pass over a sweep's traces: each run against the baseline.

Traces are read one at a time and only numbers are kept, so memory does not grow with the length of the texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rushes.robustness.levenshtein import EditDistance
from rushes.robustness.metrics import MetricComputationError, extract_answer, extract_justification
from rushes.robustness.sweep_dir import Sweep, SweepRun
from rushes.robustness.traces import last_record

# Judges repeat themselves: most runs of a stable sweep share a handful of texts. Bounded, so that memory stays flat.
_REMEMBERED = 256


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
    failed: bool = False
    """The judge gave no answer, and its trace says so."""


def score_runs(sweep: Sweep, *, advance: Callable[[], object] = lambda: None) -> Iterator[RunScore]:
    """Scores in execution order; the first is the baseline against itself."""
    baseline = run_record(sweep, sweep.baseline)
    answer = extract_answer(baseline)
    drift_to = lru_cache(maxsize=_REMEMBERED)(EditDistance(extract_justification(baseline)).normalized_to)
    for run in sweep.runs:
        record = run_record(sweep, run)
        yield RunScore(
            values=run.values,
            matches=extract_answer(record) == answer,
            drift=drift_to(extract_justification(record)),
            confidence=rich_number(record, "confidence_score", str(sweep.trace(run))),
            entropy=rich_number(record, "output_entropy", str(sweep.trace(run))),
            failed=record.get("status") == "error",
        )
        advance()


def run_record(sweep: Sweep, run: SweepRun) -> dict[str, object]:
    """The last record of a run's trace, checked to hold an answer."""
    record = last_record(sweep.trace(run))
    try:
        extract_answer(record)
    except MetricComputationError as error:
        raise MetricComputationError(f"{sweep.trace(run)}: {error}") from None
    return record


def rich_number(record: Mapping[str, object], key: str, where: str) -> float | None:
    """A number of the record's `rich_summary`, or of the record itself; None where neither has it."""
    summary = record.get("rich_summary")
    for holder in (summary, record):
        value = holder.get(key) if isinstance(holder, Mapping) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise MetricComputationError(f"{where}: {key} is {value}; expected a finite number or null")
            return float(value)
    return None


def by_value(axis: str, scores: Iterable[RunScore]) -> dict[str, list[RunScore]]:
    """The scores that count for an axis, by encoded value, in the order of the encodings."""
    groups: dict[str, list[RunScore]] = {}
    for score in scores:
        if axis in score.values:
            groups.setdefault(score.values[axis], []).append(score)
    return {encoded: groups[encoded] for encoded in sorted(groups)}
