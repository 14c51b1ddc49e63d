"""Everything that is measured on one sweep directory, of either family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.selection import Numbers
from rushes.core.table import Table
from rushes.instruments.robustness import measurements as labelled
from rushes.instruments.robustness.definitions.one_sweep import ESI
from rushes.instruments.robustness.measurements import Axes, grid_digest, run_counts, value_label
from rushes.instruments.robustness.seed import manifests
from rushes.instruments.robustness.seed.gradients import GradientSurface, gradient_surface
from rushes.instruments.robustness.seed.metrics import MetricsResult, NullJustification, extract_answer
from rushes.instruments.robustness.seed.metrics_engine import esi_metric, metrics_result
from rushes.instruments.robustness.seed.montecarlo import MonteCarloResult, monte_carlo
from rushes.instruments.robustness.seed.results import Results, read_results
from rushes.instruments.robustness.seed.scores import RunScore, run_record, score_answered
from rushes.instruments.robustness.seed.surface import RobustnessSurface, robustness_surface
from rushes.instruments.robustness.seed.sweep_dir import (
    FULL_GRID,
    ONE_AT_A_TIME,
    Sweep,
    clip_digest,
    read_sweep,
    verify_sweep,
)
from rushes.instruments.robustness.show import remarks
from rushes.instruments.robustness.show.diff import shown
from rushes.instruments.robustness.show.remarks import WorstRun
from rushes.instruments.robustness.show.tables import effects_table, stability_table

WORST_RUNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport(Answer, Numbers):
    """Everything measured on one sweep: the seed's shapes, and every number with its definition.

    report.one("esi", axis="brightness", value=0.8).value
    print(report.table())
    """

    __repr__ = told

    path: Path | str
    family: str
    """Which kind of manifest it has."""
    axes: Axes
    """Axis → encoded value → value, values as declared."""
    seeds: tuple[int, ...]
    runs: int
    declared_runs: int
    """How many the axes and seeds call for; more than `runs` when the sweep is not finished."""
    failed_runs: int = 0
    """Runs whose judge gave no answer, and whose trace says so; they are in no number but the failure rate."""
    failures: tuple[tuple[str, int], ...] = ()
    """The most frequent reasons, with their counts."""
    remarks: tuple[str, ...] = ()
    """What a reader must know beside the numbers, a line each."""
    baseline: str
    """The run that all others are compared with."""
    baseline_answer: str | None = ""
    """None where the judge failed in the baseline run: then nothing can be said about any axis."""
    metrics: MetricsResult | None = None
    """Over the runs that answered: what `MetricsEngine` gives where none failed. None for a sweep without traces
    (results with a text preview only), and where the baseline failed."""
    surface: RobustnessSurface | None = None
    gradients: GradientSurface | None = None
    monte_carlo: MonteCarloResult
    worst: tuple[WorstRun, ...] = ()
    """Runs furthest from the baseline, furthest first."""
    measurements: tuple[Measurement, ...]
    design: str = FULL_GRID
    clip_sha256: str | None = None
    """Digest of the clip that was swept, where the baseline run's spec gives it."""
    scores: tuple[RunScore, ...] = field(default=(), repr=False)
    """Every run against the baseline, in execution order; the first is the baseline."""

    @property
    def summary(self) -> str:
        """How many runs there are, and on which axes."""
        runs = f"{self.runs} of {self.declared_runs}" if self.runs < self.declared_runs else str(self.runs)
        return f"{self.path}: {runs} runs over {', '.join(self.axes)}; baseline {self.baseline}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know beside the numbers."""
        lost = f"{self.failed_runs} of {self.runs} runs have no answer"
        return ((lost,) if self.failed_runs else ()) + self.remarks

    def _items(self) -> tuple[Measurement, ...]:
        return self.measurements

    def _tables(self) -> tuple[Table, ...]:
        return self.table(), self.effects()

    def table(self) -> Table:
        """Stability per axis value."""
        return stability_table(self.measurements)

    def effects(self) -> Table:
        """What each axis does by itself."""
        return effects_table(self.measurements)

    def as_dict(self) -> dict[str, object]:
        """Plain data, for `--json`; the keys of a seed's shape stay as the seed writes them."""
        return {
            "sweep": str(self.path),
            **self.facts(),
            "metrics": asdict(self.metrics) if self.metrics else None,
            "robustness_surface": self.surface.to_dict() if self.surface else None,
            "gradient_surface": self.gradients.to_dict() if self.gradients else None,
            "monte_carlo": asdict(self.monte_carlo),
            "measurements": [m.as_dict() for m in self.measurements],
        }

    def facts(self) -> dict[str, object]:
        """What the subject's line in a run directory says beside the numbers."""
        return {
            "family": self.family,
            "axes": {axis: [[code, value_label(self.axes, axis, code)] for code in v] for axis, v in self.axes.items()},
            "seeds": list(self.seeds),
            "design": self.design,
            "runs": self.runs,
            "declared_runs": self.declared_runs,
            "failed_runs": self.failed_runs,
            "failures": [list(reason) for reason in self.failures],
            "remarks": list(self.remarks),
            "baseline": {"run": self.baseline, "answer": self.baseline_answer},
            "worst": [run.as_dict() for run in self.worst],
        }


def measure_sweep(
    path: Path,
    *,
    verify: bool = True,
    worst: int = WORST_RUNS,
    follow_links: bool = False,
    null_justification: NullJustification = "empty",
    advance: Callable[[], object] = lambda: None,
) -> SweepReport:
    """Measure one sweep directory of either family; `advance` is called after each run."""
    source = path / manifests.MANIFEST
    manifest = manifests.read_json_object(source, inside=None if follow_links else path)
    if manifests.manifest_family(manifest, source) == manifests.RESULTS_FAMILY:
        return _measure_results(read_results(path, follow_links=follow_links))
    sweep = read_sweep(path, follow_links=follow_links, null_justification=null_justification)
    report = _measure_runs(verify_sweep(sweep) if verify else sweep, worst, advance)
    return replace(report, measurements=labelled.with_null(report.measurements, null_justification))


def _measure_runs(sweep: Sweep, worst: int, advance: Callable[[], object]) -> SweepReport:
    axes, scores = sweep.axes, list(score_answered(sweep, advance=advance))
    statistics = monte_carlo(axes, scores)
    grid = grid_digest(run.directory for run in sweep.runs)
    report = SweepReport(
        path=sweep.path,
        family=manifests.RUNS_FAMILY,
        axes=axes,
        seeds=sweep.seeds,
        runs=len(sweep.runs),
        declared_runs=sweep.declared_runs,
        failed_runs=sum(score.failed for score in scores),
        failures=remarks.failure_reasons(scores),
        remarks=remarks.sweep_remarks(sweep, scores),
        baseline=sweep.baseline.directory,
        baseline_answer=None,
        monte_carlo=statistics,
        design=sweep.design,
        clip_sha256=clip_digest(sweep),
        scores=tuple(scores),
        measurements=(
            *labelled.failure_measurements(axes, scores, grid=grid),
            *labelled.monte_carlo_measurements(statistics, axes=axes, grid=grid),
        ),
    )
    problem = remarks.baseline_problem(scores)
    if problem is not None:
        nothing = labelled.nothing_measured(axes, grid=grid, note=problem)
        return replace(report, measurements=(*nothing, *report.measurements))
    return _with_stability(report, sweep, scores, worst, grid)


def _with_stability(
    report: SweepReport, sweep: Sweep, scores: Sequence[RunScore], worst: int, grid: str
) -> SweepReport:
    """The report with everything that is held against the baseline, over the runs that answered."""
    axes, answered = sweep.axes, [score for score in scores if not score.failed]
    counts, failed = run_counts(axes, answered), run_counts(axes, [score for score in scores if score.failed])
    metrics = metrics_result(axes, answered)
    surface = robustness_surface(metrics)
    gradients = gradient_surface(surface)
    furthest = remarks.worst_runs(sweep, scores, worst)
    return replace(
        report,
        baseline_answer=shown(extract_answer(run_record(sweep, sweep.baseline)), remarks.LONGEST_ANSWER),
        metrics=metrics,
        surface=surface,
        gradients=gradients,
        worst=furthest,
        measurements=(
            *labelled.as_measurements(metrics, axes=axes, counts=counts, grid=grid, failed=failed),
            *report.measurements,
            *labelled.effect_measurements(axes, scores, grid=grid),
            *labelled.surface_measurements(surface, gradients, grid=grid),
            *labelled.by_value_gradients(axes, metrics, grid=grid),
            *(() if sweep.design == ONE_AT_A_TIME else labelled.cell_measurements(axes, answered, grid=grid)),
            *(labelled.run_measurement(run.run, run.drift, grid=grid) for run in furthest),
        ),
    )


def _measure_results(results: Results) -> SweepReport:
    axes, scores = results.axes, results.scores
    counts = run_counts(axes, scores)
    pooled = [f"{axis}={value}" for score in scores for axis, value in score.values.items()]
    grid = grid_digest([*pooled, *(f"seed={seed}" for seed in results.seeds)])
    statistics = monte_carlo(axes, scores)
    definition = ESI.with_params(answer=labelled.TEXT_PREVIEW, grid=grid)
    esi = [esi_metric(axis, scores) for axis in axes if counts[axis]]
    return SweepReport(
        path=results.path,
        family=manifests.RESULTS_FAMILY,
        axes=axes,
        seeds=results.seeds,
        runs=len(scores),
        declared_runs=len(scores),
        remarks=remarks.number_remarks(scores),
        baseline="_".join(f"{axis}={value}" for axis, value in scores[0].values.items()),
        monte_carlo=statistics,
        measurements=(
            *(row for m in esi for row in labelled.axis_measurements(definition, m, axes, counts[m.axis], {})),
            *labelled.monte_carlo_measurements(statistics, axes=axes, grid=grid),
        ),
    )
