"""What a reader must know about a sweep beside its numbers: failures, runs that are missing, numbers that are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rushes.instruments.robustness.seed.scores import RunScore
from rushes.instruments.robustness.seed.sweep_dir import Sweep
from rushes.instruments.robustness.show.diff import shown

_LONGEST = 200
_MOST_REASONS = 5


def sweep_remarks(sweep: Sweep, scores: Sequence[RunScore]) -> tuple[str, ...]:
    """One line for each, in a fixed order; () for a whole sweep in which every judge answered."""
    lines = list(sweep.remarks)
    if len(sweep.runs) < sweep.declared_runs:
        lines.append(f"{sweep.declared_runs - len(sweep.runs)} of {sweep.declared_runs} runs are not there yet")
    if sweep.baseline.directory != sweep.declared_baseline:
        lines.append(
            f"the declared baseline {sweep.declared_baseline} is not there; "
            f"every run is held against {sweep.baseline.directory} instead"
        )
    return (*lines, *failure_remarks(scores), *number_remarks(scores))


def failure_remarks(scores: Sequence[RunScore]) -> tuple[str, ...]:
    """How often the judge failed and why, most frequent reason first; () where it always answered."""
    failed = sum(score.failed for score in scores)
    if not failed:
        return ()
    (reason, _), *_ = failure_reasons(scores)
    first = baseline_problem(scores)
    line = f"the judge failed in {failed} of {len(scores)} runs, which are left out; most often: {reason}"
    return (line,) if first is None else (line, first)


def baseline_problem(scores: Sequence[RunScore]) -> str | None:
    """Why nothing can be said about a sweep whose baseline has no answer; None where it has one."""
    if not scores[0].failed:
        return None
    return f"the judge failed in the baseline run, so no run can be held against it: {_reason(scores[0])}"


def failure_reasons(scores: Sequence[RunScore]) -> tuple[tuple[str, int], ...]:
    """The most frequent reasons with their counts, at most five; equals in the order they came."""
    counts = Counter(_reason(score) for score in scores if score.failed)
    return tuple(counts.most_common(_MOST_REASONS))


def number_remarks(scores: Sequence[RunScore]) -> tuple[str, ...]:
    """How many confidences and entropies cannot be reckoned with, and the first of them."""
    lines = [line for score in scores for line in score.unusable]
    if not lines:
        return ()
    return (f"{len(lines)} confidences or entropies are left out; first: {shown(lines[0], _LONGEST)}",)


def _reason(score: RunScore) -> str:
    return shown(score.reason, _LONGEST) or "no reason given"
