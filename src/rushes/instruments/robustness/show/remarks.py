"""What a reader must know about a sweep beside its numbers: failures, runs that are missing, numbers that are none; and
the runs that moved furthest from the baseline, and how their justifications changed."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rushes.instruments.robustness.seed.metrics import extract_answer
from rushes.instruments.robustness.seed.scores import RunScore, run_record
from rushes.instruments.robustness.seed.sweep_dir import Sweep, SweepRun
from rushes.instruments.robustness.show.diff import DiffPart, shown, word_diff

LONGEST_ANSWER = 200
_LONGEST_DIFF = 4000
_LONGEST = 200
_MOST_REASONS = 5


def sweep_remarks(sweep: Sweep, scores: Sequence[RunScore]) -> tuple[str, ...]:
    """One line for each, in a fixed order; () for a whole sweep in which every judge answered."""
    lines = list(sweep.remarks)
    if len(sweep.runs) < sweep.declared_runs:
        lines.append(f"{sweep.declared_runs - len(sweep.runs)} of {sweep.declared_runs} runs are missing so far")
    if sweep.baseline.directory != sweep.declared_baseline:
        lines.append(
            f"the declared baseline {sweep.declared_baseline} is missing; "
            f"every run is compared with {sweep.baseline.directory} instead"
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
    return f"the judge failed in the baseline run, so no run can be compared with it: {_reason(scores[0])}"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRun:
    """A run that moved far from the baseline, and how its justification changed."""

    run: str
    answer: str
    matches: bool
    drift: float
    diff: tuple[DiffPart, ...]
    """Word by word, from the baseline's justification to this run's."""

    def headline(self, baseline_answer: str) -> str:
        """One line: which run, what it answers, how far its reasons moved."""
        return headline(self.as_dict(), self.drift, baseline_answer)

    def as_dict(self) -> dict[str, object]:
        """Plain data, without the drift: that is a measurement."""
        diff = [[part.change, part.text] for part in self.diff]
        return {"run": self.run, "answer": self.answer, "matches": self.matches, "diff": diff}


def headline(run: Mapping[str, object], drift: float, baseline_answer: str) -> str:
    """One line about a worst run in its plain form, as a run directory keeps it."""
    verdict = "same answer" if run["matches"] else f"answers “{run['answer']}”, baseline “{baseline_answer}”"
    return f"{run['run']}: {verdict}, drift {drift:.4f}"


def worst_runs(sweep: Sweep, scores: Sequence[RunScore], count: int) -> tuple[WorstRun, ...]:
    """Runs that answer differently first, then by drift, then in execution order; none that equals the baseline.

    A run whose judge failed has not moved: it is nowhere.
    """
    moved = [n for n, score in enumerate(scores) if not score.failed and (not score.matches or score.drift)]
    chosen = heapq.nsmallest(count, moved, key=lambda n: (scores[n].matches, -(scores[n].drift or 0.0), n))
    before = sweep.justification(run_record(sweep, sweep.baseline))
    return tuple(_worst_run(sweep, sweep.runs[number], scores[number], before) for number in chosen)


def _worst_run(sweep: Sweep, run: SweepRun, score: RunScore, before: str) -> WorstRun:
    record = run_record(sweep, run)
    after = sweep.justification(record)
    return WorstRun(
        run=run.directory,
        answer=shown(extract_answer(record), LONGEST_ANSWER),
        matches=score.matches,
        drift=score.drift or 0.0,
        diff=_shortened(word_diff(shown(before), shown(after))),
    )


def _shortened(parts: tuple[DiffPart, ...]) -> tuple[DiffPart, ...]:
    kept: list[DiffPart] = []
    left = _LONGEST_DIFF
    for part in parts:
        if left <= 0:
            return (*kept, DiffPart("same", "…"))
        kept.append(DiffPart(part.change, shown(part.text, left)))
        left -= len(part.text)
    return tuple(kept)
