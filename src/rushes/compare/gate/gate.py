"""`rushes gate` in Python: is a candidate still as good as its baseline, beyond how much the baseline moves by itself?

Each reading is held against a margin, paired by clip. Worse is said where the loss is surely more than the margin (one
family over all readings gated on, Holm), same where the change surely lies inside it (two one-sided tests). Every
reading must pass for the gate to hold, so that passing needs no adjustment (intersection-union, Berger 1982).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rushes.compare.gate.answer import GateReport
from rushes.compare.gate.rules import Margins, Rule, gate_readings, gate_rules
from rushes.compare.gate.signals import signal_change
from rushes.compare.gate.verdicts import gate_verdicts
from rushes.compare.readings.sampled_runs import Declared, sample_means
from rushes.compare.runs.compare import compare_two
from rushes.compare.runs.results import RunComparison
from rushes.core.errors import InputError
from rushes.core.machine.collection import uncollected
from rushes.storage.columns import with_subjects
from rushes.storage.runs import Run, read_run
from rushes.storage.runs.ids import identity

_SHIFT_P = 0.01
"""Where the means of the baseline's runs lie this unlikely far apart, a reader is told."""


@uncollected()
def check_regression(
    baseline: Path | str | Run,
    candidate: Path | str | Run,
    *,
    repeats: Iterable[Path | str | Run] = (),
    metrics: Margins | Iterable[str] = (),
    margin: float = 1.0,
    level: float = 0.95,
    allow_unjudged: bool = False,
    prompts: Declared = None,
) -> GateReport:
    """Can the candidate replace the baseline? Same within a margin, worse, or cannot tell, metric by metric.

        rushes.gate("runs/full", "runs/quantised", metrics={"psnr": 0.5, "lpips": "5%"}).answer

    Args:
        baseline: the run to compare with, read or by directory.
        candidate: the run to judge, over the same clips.
        repeats: other runs of the baseline's system over the same clips, such as other seeds. They say how much each
            metric varies by itself. Differences are from `baseline` alone, which may share the candidate's seeds.
        metrics: what to go by, with margins: {"psnr": 0.5, "lpips": "5%", "ssim": None}; by default every metric with
            a better direction. A metric that is named counts, whatever its definition says of a change.
        margin: of metrics without one of their own, in repeatability limits (`rushes metrics gate_margin`); 1.0 by
            default.
        level: confidence of each claim, which is wrong at most 1 − level of the time; 0.95 by default.
        allow_unjudged: let the gate hold although nothing judges the picture; false by default.
        prompts: a file of prompts, whose numbered samples (p001-0, p001-1 …) are averaged, so that each prompt counts
            once; by default the prompts of the suite that the runs are in.

    Returns:
        A `GateReport`: `answer` is "same", "worse" or "cannot tell", `metrics` has each verdict and its numbers. If
        nothing judges the picture, as in runs of `rushes clip` alone, it is at best "cannot tell", whatever metrics of
        time are named. A candidate with more flagged clips than chance explains is "worse". If a clip of the baseline
        has no value in the candidate, its metrics stay at "cannot tell". One number per run (FVD) is judged by the
        repeats' spread, else by the two intervals.

    Raises:
        InputError: a run is not complete; nothing is shared; a margin is missing and there is no repeat; the baseline
            and the candidate are one run; or a repeat is the baseline, the candidate, or another repeat.
    """
    if not 0.5 < level < 1:
        raise InputError(f"expected a level between 0.5 and 1, such as 0.95; got {level:g}")
    if not 0 < margin < float("inf"):
        raise InputError(f"expected a margin above 0, in repeatability limits; got {margin:g}")
    first, second, *others = (_whole_run(run) for run in (baseline, candidate, *repeats))
    _require_other_runs(first, second, others)
    (first, second, *others), averaged = sample_means((first, second, *others), prompts)
    found = compare_two(first, second, top=0, prompts=())
    repeated = [_repeat(first, run) for run in others]
    if isinstance(metrics, str):
        metrics = (metrics,)
    asked = metrics if isinstance(metrics, Mapping) else dict.fromkeys(metrics)
    rules = gate_rules(gate_readings(found, repeated), asked, factor=margin, repeated=bool(others))
    return GateReport(
        baseline=first,
        candidate=second,
        repeats=tuple(others),
        level=level,
        clips=max(rule.reading.clips for rule in rules),
        metrics=tuple(gate_verdicts(rules, round(1 - level, 10))),
        signals=signal_change(first, second),
        allow_unjudged=allow_unjudged,
        remarks=(*averaged, *_remarks(found, others, rules)),
    )


gate = check_regression
"""Its name as a verb."""


def _whole_run(given: Path | str | Run) -> Run:
    run = given if isinstance(given, Run) else read_run(given)
    if run.status != "complete":
        raise InputError(f"{run.place}: the run is {run.status}; a gate needs complete runs, so let it finish first")
    return with_subjects(run)


def _require_other_runs(baseline: Run, candidate: Run, repeats: Sequence[Run]) -> None:
    """A run that is compared with itself holds for ever, and a candidate among the repeats excuses its own loss."""
    seen = {identity(baseline.place): "the baseline itself"}
    if identity(candidate.place) in seen:
        raise InputError(f"{candidate.place} is both baseline and candidate; a gate needs two runs: name another one")
    seen[identity(candidate.place)] = "the candidate"
    for run in repeats:
        if what := seen.get(identity(run.place)) or _as_candidate(run, candidate, baseline):
            raise InputError(f"{run.place}: a repeat is another run of the baseline's system; this is {what}")
        seen[identity(run.place)] = "given twice"


def _as_candidate(repeat: Run, candidate: Run, baseline: Run) -> str:
    """What ties a repeat to the candidate by its content; "" where nothing does."""
    if repeat.digest == candidate.digest:
        return "a copy of the candidate"
    theirs = _same_files(repeat, candidate) and not _same_files(repeat, baseline)
    return "a run of the candidate's files" if theirs else ""


def _repeat(baseline: Run, repeat: Run) -> RunComparison:
    try:
        return compare_two(baseline, repeat, top=0, prompts=())
    except InputError as error:
        raise InputError(f"{repeat.place} is not a repeat of the baseline: {error}") from None


def _remarks(found: RunComparison, repeats: Sequence[Run], rules: Sequence[Rule]) -> Iterator[str]:
    if found.only_second:
        yield f"{len(found.only_second)} clips are in the candidate only and were not compared"
    if _same_files(found.first, found.second):
        yield "the candidate measured the same files as the baseline, so the gate compares these clips with themselves"
    for run in repeats:
        if _same_files(found.first, run):
            yield f"{run.place} measured the same files as the baseline, so it shows no noise"
    for rule in rules:
        shift = rule.floor.shift_p if rule.floor else None
        if rule.gated and rule.floor and shift is not None and shift < _SHIFT_P and rule.floor.sd > 0:
            yield (
                f"{rule.reading.label}: the {rule.floor.runs} runs of the baseline differ as a whole, by more than the "
                "spread of their clips explains; more repeats would give a more reliable margin"
            )
        if rule.gated and repeats and 1 < rule.reading.runs <= len(repeats):
            yield f"{rule.reading.label}: {rule.reading.runs - 1} of {len(repeats)} repeats have this metric"


def _same_files(one: Run, other: Run) -> bool:
    ours, theirs = ({s.id: s.sha256 for s in run.subjects if s.sha256} for run in (one, other))
    shared = ours.keys() & theirs.keys()
    return bool(shared) and all(ours[name] == theirs[name] for name in shared)
