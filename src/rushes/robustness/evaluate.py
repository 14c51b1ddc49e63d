"""`rushes robust` in Python: measure sweeps and write a run directory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rushes.core import Measurement
from rushes.core.canonical import canonical_json
from rushes.core.provenance import bytes_digest, file_digest
from rushes.remote.address import is_remote
from rushes.robustness.definitions import DRIFT_OF_RUN
from rushes.robustness.diff import DiffPart, word_diff
from rushes.robustness.gradients import GradientSurface, gradient_surface
from rushes.robustness.manifests import MANIFEST, RESULTS_FAMILY, RUNS_FAMILY, manifest_family, read_json_object
from rushes.robustness.measurements import (
    TEXT_PREVIEW,
    as_measurements,
    cell_measurements,
    esi_measurements,
    grid_digest,
    monte_carlo_measurements,
    run_counts,
    surface_measurements,
)
from rushes.robustness.metrics import MetricsResult, MissingSweepFile, extract_answer, extract_justification
from rushes.robustness.metrics_engine import esi_metric, metrics_result
from rushes.robustness.montecarlo import MonteCarloResult, monte_carlo
from rushes.robustness.results import Results, read_results
from rushes.robustness.scores import RunScore, run_record, score_runs
from rushes.robustness.surface import RobustnessSurface, robustness_surface
from rushes.robustness.sweep_dir import Sweep, SweepRun, read_sweep
from rushes.robustness.verification import verify_sweep
from rushes.runs import Entry, Subject, open_run, pulled_folder, subject_ids

WORST_RUNS = 5
_LONGEST_ANSWER = 200
_LONGEST_DIFF = 4000

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstRun:
    """A run that moved far from the baseline, and how its justification changed."""

    run: str
    answer: str
    matches: bool
    drift: float
    diff: tuple[DiffPart, ...]
    """Word by word, from the baseline's justification to this run's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """Everything measured on one sweep."""

    path: Path | str
    family: str
    axes: Mapping[str, Mapping[str, object]]
    """Axis → encoded value → value, values as declared."""
    seeds: tuple[int, ...]
    runs: int
    declared_runs: int
    failed_runs: int
    """Runs whose judge gave no answer, and whose trace says so."""
    baseline: str
    baseline_answer: str
    metrics: MetricsResult | None
    """None for a sweep without traces (results with a text preview only)."""
    surface: RobustnessSurface | None
    gradients: GradientSurface | None
    monte_carlo: MonteCarloResult
    worst: tuple[WorstRun, ...]
    measurements: tuple[Measurement, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain data, for `--json`; the keys of a seed's shape stay as the seed writes them."""
        return {
            "sweep": str(self.path),
            **self.facts(),
            "metrics": asdict(self.metrics) if self.metrics else None,
            "robustness_surface": self.surface.to_dict() if self.surface else None,
            "gradient_surface": self.gradients.to_dict() if self.gradients else None,
            "monte_carlo": asdict(self.monte_carlo),
            "measurements": [
                {"signature": m.signature, "value": m.stored_value, "count": m.count, "note": m.note}
                for m in self.measurements
            ],
        }

    def facts(self) -> dict[str, object]:
        """What the subject's line in a run directory says beside the numbers."""
        return {
            "family": self.family,
            "axes": {axis: [[code, shown(str(value))] for code, value in v.items()] for axis, v in self.axes.items()},
            "seeds": list(self.seeds),
            "runs": self.runs,
            "declared_runs": self.declared_runs,
            "failed_runs": self.failed_runs,
            "baseline": {"run": self.baseline, "answer": self.baseline_answer},
            "worst": [
                {
                    "run": run.run,
                    "answer": run.answer,
                    "matches": run.matches,
                    "diff": [[part.change, part.text] for part in run.diff],
                }
                for run in self.worst
            ],
        }


def measure_robustness(
    sweep_dir: Path | str,
    *,
    output: Path | str | None = None,
    verify: bool = True,
    worst: int = WORST_RUNS,
    advance: Advance = lambda n: None,
) -> tuple[SweepReport, ...]:
    """ESI, drift and what rests on them, for one sweep or a folder of sweeps; with `output`, as a run directory too.

    With `verify`, a run whose `manifest.json` is not the one that was written is an error. `worst` is how many runs to
    list with their changed justification. `advance` is called after each run.
    """
    with pulled_folder(sweep_dir) as folder:
        sweeps = find_sweeps(folder)
        reports = (
            _named(measure_sweep(p, verify=verify, worst=worst, advance=advance), folder, sweep_dir) for p in sweeps
        )
        if output is None:
            return tuple(reports)
        settings = {"verify": verify, "worst": worst}
        ids = subject_ids([path.resolve().name for path in sweeps])
        made = []
        with open_run(output, instrument="robustness", settings=settings, inputs=[_place(sweep_dir)]) as run:
            for subject_id, path, report in zip(ids, sweeps, reports, strict=True):
                run.add(Entry(subject=_subject(subject_id, path, report), measurements=report.measurements))
                made.append(report)
            run.finish(ids)
        return tuple(made)


def _place(sweep_dir: Path | str) -> str:
    return str(sweep_dir).rstrip("/") if is_remote(sweep_dir) else str(Path(sweep_dir))


def _named(report: SweepReport, folder: Path, sweep_dir: Path | str) -> SweepReport:
    """The report of a sweep that was brought here, under its address."""
    if not is_remote(sweep_dir):
        return report
    return replace(report, path=str(report.path).replace(str(folder), _place(sweep_dir), 1))


def default_run(sweep_dir: Path | str, *, verify: bool, worst: int) -> Path:
    """Where `rushes robust` writes unless told: the same question goes to the same place."""
    question = canonical_json([str(sweep_dir), {"verify": verify, "worst": worst}])
    return Path("runs") / f"robust-{bytes_digest(question.encode())[:8]}"


def listed_runs(sweep_dir: Path | str) -> int:
    """How many runs the sweeps here list, for a progress bar; nothing is checked yet, and 0 is told of an address."""
    if is_remote(sweep_dir):
        return 0
    manifests = [read_json_object(path / MANIFEST) for path in find_sweeps(Path(sweep_dir))]
    return sum(len(runs) for manifest in manifests if isinstance(runs := manifest.get("runs"), list))


def find_sweeps(folder: Path) -> list[Path]:
    """The folder itself when it is a sweep, else the sweeps in it, by name."""
    if (folder / MANIFEST).exists():
        return [folder]
    inside = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
    if not inside:
        raise MissingSweepFile(f"{folder / MANIFEST}: expected a sweep directory; found no manifest there or one below")
    return inside


def measure_sweep(
    path: Path, *, verify: bool = True, worst: int = WORST_RUNS, advance: Advance = lambda n: None
) -> SweepReport:
    """Measure one sweep directory of either family."""
    source = path / MANIFEST
    if manifest_family(read_json_object(source), source) == RESULTS_FAMILY:
        return _measure_results(read_results(path))
    sweep = read_sweep(path)
    if verify:
        verify_sweep(sweep)
    return _measure_runs(sweep, worst, advance)


def _measure_runs(sweep: Sweep, worst: int, advance: Advance) -> SweepReport:
    scores = list(score_runs(sweep, advance=advance))
    metrics = metrics_result(sweep.axes, scores)
    surface = robustness_surface(metrics)
    gradients = gradient_surface(surface)
    statistics = monte_carlo(sweep.axes, scores)
    grid = grid_digest(run.directory for run in sweep.runs)
    worst_runs = _worst(sweep, scores, worst)
    return SweepReport(
        path=sweep.path,
        family=RUNS_FAMILY,
        axes=sweep.axes,
        seeds=sweep.seeds,
        runs=len(sweep.runs),
        declared_runs=sweep.declared_runs,
        failed_runs=sum(score.failed for score in scores),
        baseline=sweep.baseline.directory,
        baseline_answer=shown(extract_answer(run_record(sweep, sweep.baseline)), _LONGEST_ANSWER),
        metrics=metrics,
        surface=surface,
        gradients=gradients,
        monte_carlo=statistics,
        worst=worst_runs,
        measurements=(
            *as_measurements(metrics, counts=run_counts(sweep.axes, scores), grid=grid),
            *surface_measurements(surface, gradients, grid=grid),
            *monte_carlo_measurements(statistics, grid=grid),
            *cell_measurements(list(sweep.axes), scores, grid=grid),
            *(
                Measurement(definition=DRIFT_OF_RUN.with_params(grid=grid, run=run.run), value=run.drift, count=1)
                for run in worst_runs
            ),
        ),
    )


def _measure_results(results: Results) -> SweepReport:
    counts = run_counts(results.axes, results.scores)
    pooled = [f"{axis}={value}" for score in results.scores for axis, value in score.values.items()]
    grid = grid_digest([*pooled, *(f"seed={seed}" for seed in results.seeds)])
    statistics = monte_carlo(results.axes, results.scores)
    esi = [esi_metric(axis, results.scores) for axis in results.axes if counts[axis]]
    first = results.scores[0].values
    return SweepReport(
        path=results.path,
        family=RESULTS_FAMILY,
        axes=results.axes,
        seeds=results.seeds,
        runs=len(results.scores),
        declared_runs=len(results.scores),
        failed_runs=0,
        baseline="_".join(f"{axis}={value}" for axis, value in first.items()),
        baseline_answer="",
        metrics=None,
        surface=None,
        gradients=None,
        monte_carlo=statistics,
        worst=(),
        measurements=(
            *(
                row
                for metric in esi
                for row in esi_measurements(metric, counts[metric.axis], grid=grid, answer=TEXT_PREVIEW)
            ),
            *monte_carlo_measurements(statistics, grid=grid),
        ),
    )


def _worst(sweep: Sweep, scores: Sequence[RunScore], count: int) -> tuple[WorstRun, ...]:
    """Runs that answer differently first, then by drift, then in execution order; none that equals the baseline."""
    moved = [number for number, score in enumerate(scores) if not score.matches or score.drift]
    chosen = heapq.nsmallest(count, moved, key=lambda n: (scores[n].matches, -(scores[n].drift or 0.0), n))
    before = extract_justification(run_record(sweep, sweep.baseline))
    return tuple(_worst_run(sweep, sweep.runs[number], scores[number], before) for number in chosen)


def _worst_run(sweep: Sweep, run: SweepRun, score: RunScore, before: str) -> WorstRun:
    record = run_record(sweep, run)
    after = extract_justification(record)
    return WorstRun(
        run=run.directory,
        answer=shown(extract_answer(record), _LONGEST_ANSWER),
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


def shown(text: str, longest: int | None = None) -> str:
    """Text that can be stored, printed and drawn: one line, "?" for what is not printable; cut where asked.

    JSON can carry terminal controls and half surrogate pairs, and a judge's words end up on terminals and pages.

    >>> shown("a\\n\\x1b[2Jb\\ud800c"), shown("abcdef", 4)
    ('a ?[2Jb?c', 'abc…')
    """
    line = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return line if longest is None or len(line) <= longest else line[: max(longest - 1, 0)] + "…"


def _subject(subject_id: str, path: Path, report: SweepReport) -> Subject:
    digest = file_digest(path / MANIFEST)
    return Subject(id=subject_id, kind="sweep", path=str(report.path), sha256=digest, facts=report.facts())
